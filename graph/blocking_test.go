package graph_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testsize"
)

// exclusionCatalog returns a package p with a channel that has the entries.
func exclusionCatalog(t *testing.T, entries []string) graph.Package {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"schema":"olm.package","name":"p","defaultChannel":"c"}{"schema":"olm.channel","package":"p","name":"c","entries":[%s]}`, strings.Join(entries, ","))
	for i := range entries {
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":"p","name":"p.v%d","image":"example.com/p:%d","properties":[{"type":"olm.package","value":{"packageName":"p","version":"%d.0.0"}}]}`, i, i, i)
	}
	c, err := graph.LoadReader(t.Context(), strings.NewReader(b.String()), "p.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := c.Package("p")
	return p
}

// TestExcluded checks that excluded upgrades are not taken, and which of them block all paths
// (G4).
func TestExcluded(t *testing.T) {
	p := exclusionCatalog(t, []string{
		`{"name":"p.v0"}`, `{"name":"p.v1","replaces":"p.v0"}`, `{"name":"p.v2","replaces":"p.v1","skips":["p.v0"]}`, `{"name":"p.v3","replaces":"p.v2"}`,
	})
	v0, v3 := graph.Node{Name: "p.v0", Version: "0.0.0"}, graph.Node{Name: "p.v3", Version: "3.0.0"}
	for _, x := range []struct {
		name     string
		excluded [][2]string
		path     string // of the shortest path, or ""
		blocking string
	}{
		{"nothing", nil, "p.v2 p.v3", ""},
		{"a detour", [][2]string{{"p.v0", "p.v2"}}, "p.v1 p.v2 p.v3", ""},
		{"all ways from the start", [][2]string{{"p.v0", "p.v2"}, {"p.v0", "p.v1"}}, "", "p.v0 p.v1, p.v0 p.v2"},
		{"the last step, and one that does not matter", [][2]string{{"p.v2", "p.v3"}, {"p.v0", "p.v1"}}, "", "p.v2 p.v3"},
		{"an upgrade that does not exist", [][2]string{{"p.v0", "p.v3"}}, "p.v2 p.v3", ""},
	} {
		o := &graph.UpgradeOptions{}
		for _, e := range x.excluded {
			o.Excluded = append(o.Excluded, graph.Exclusion{From: e[0], To: e[1], Reason: "because"})
		}
		u := p.Upgrades(graph.V1, o)
		var path, blocking []string
		steps, ok := u.Path(v0, v3)
		for _, s := range steps {
			path = append(path, s.To.Name)
		}
		if head, headOK := u.PathToHead(v0); headOK != ok || len(head) != len(steps) {
			t.Errorf("%s: another path to the head: %v", x.name, head)
		}
		for _, to := range []graph.Node{v3, {}} {
			blocking = nil
			for _, e := range u.Blocking(v0, to) {
				blocking = append(blocking, e.From+" "+e.To)
				if e.Reason != "because" {
					t.Errorf("%s: the reason is %q", x.name, e.Reason)
				}
			}
			if got := strings.Join(blocking, ", "); got != x.blocking {
				t.Errorf("%s: %q block, want %q", x.name, got, x.blocking)
			}
		}
		if got := strings.Join(path, " "); got != x.path || ok != (x.path != "") {
			t.Errorf("%s: path %q, want %q", x.name, got, x.path)
		}
	}
	if got := p.Upgrades(graph.V1, nil).Blocking(v3, v0); got != nil {
		t.Errorf("%v block a path that does not exist anyway", got)
	}
	if got := p.Upgrades(graph.V1, nil).Blocking(v0, graph.Node{Name: "none"}); got != nil {
		t.Errorf("%v block a path to an unknown bundle", got)
	}
}

// TestBlocking checks random exclusions: there is either a path, or none without exclusions, or
// some exclusions block all paths, each of which is needed (G4).
func TestBlocking(t *testing.T) {
	blocked := 0
	for seed := range testsize.Of(300, 3000, 30000) {
		r := rand.New(rand.NewPCG(4, uint64(seed)))
		n := 3 + r.IntN(5)
		entries := []string{`{"name":"p.v0"}`}
		for i := 1; i < n; i++ {
			e := fmt.Sprintf(`{"name":"p.v%d","replaces":"p.v%d"`, i, r.IntN(i))
			if i > 1 && r.IntN(2) == 0 {
				e += fmt.Sprintf(`,"skips":["p.v%d"]`, r.IntN(i))
			}
			entries = append(entries, e+"}")
		}
		all := exclusionCatalog(t, entries).Upgrades(graph.V1, nil)
		var excluded []graph.Exclusion
		for s := range all.AllSteps() {
			if r.IntN(2) == 0 {
				excluded = append(excluded, graph.Exclusion{From: s.From.Name, To: s.To.Name})
			}
		}
		u := all.Without(excluded)
		for s := range u.AllSteps() {
			if slices.Contains(excluded, graph.Exclusion{From: s.From.Name, To: s.To.Name}) {
				t.Fatalf("seed %d: %v is excluded", seed, s)
			}
		}
		from, to := graph.Node{Name: "p.v0", Version: "0.0.0"}, graph.Node{Name: fmt.Sprint("p.v", n-1), Version: fmt.Sprint(n-1, ".0.0")}
		blocking := u.Blocking(from, to)
		_, reachable := u.Path(from, to)
		_, before := all.Path(from, to)
		if (len(blocking) > 0) != (before && !reachable) {
			t.Fatalf("seed %d: %v block; reachable %t, without exclusions %t", seed, blocking, reachable, before)
		}
		if len(blocking) == 0 {
			continue
		}
		blocked++
		for i := range blocking {
			if _, ok := all.Without(slices.Delete(slices.Clone(blocking), i, i+1)).Path(from, to); !ok {
				t.Errorf("seed %d: %v of %v is not needed", seed, blocking[i], blocking)
			}
		}
		if _, ok := all.Without(blocking).Path(from, to); ok {
			t.Errorf("seed %d: a path does not take any of %v", seed, blocking)
		}
	}
	if blocked < 30 {
		t.Errorf("only %d paths were blocked", blocked)
	}
}
