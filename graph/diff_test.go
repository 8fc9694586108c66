package graph_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
)

func diff(t *testing.T, old, new graph.Package, r graph.Reading) *graph.Diff {
	t.Helper()
	d, err := graph.Compare(context.Background(), old.Catalog(), new.Catalog(), r)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCompare(t *testing.T) {
	old := parse(t, `
		stable: 1.0.0, 1.0.1 <1.0.0, 1.0.2 <1.0.1 [>=1.0.0 <1.0.2], 1.1.0 <1.0.2
		fast: 1.1.0, 2.0.0 <1.1.0
		gone: 1.0.0`)
	for _, tt := range []struct{ name, new string }{
		{"diff-same.txt", `
			stable: 1.0.0, 1.0.1 <1.0.0, 1.0.2 <1.0.1 [>=1.0.0 <1.0.2], 1.1.0 <1.0.2
			fast: 1.1.0, 2.0.0 <1.1.0
			gone: 1.0.0`},
		// B7: patch releases replaced one by one, a head without an edge from
		// 1.1.0, a removed channel, a deprecation.
		{"diff-lost.txt", `
			stable: 1.0.0, 1.0.1 <1.0.0, 1.0.2 <1.0.1, 1.0.3 <1.0.2, 1.2.0 <1.0.3
			fast: 2.0.0, 2.1.0 <2.0.0
			slow: 1.0.0
			deprecated: 1.0.0`},
		// The new patch release skips the old ones, and all of them reach it in
		// one step.
		{"diff-zstream.txt", `
			stable: 1.0.0, 1.0.1 <1.0.0, 1.0.2 <1.0.1, 1.0.3 <1.0.0 -1.0.1 -1.0.2, 1.1.0 <1.0.3
			fast: 1.1.0, 2.0.0 <1.1.0
			gone: 1.0.0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := diff(t, old, parse(t, tt.new), graph.Classic)
			golden.File(t, tt.name, d.String())
		})
	}
}

// TestCompareReal compares the catalogs of two platform versions both ways, and
// each with itself.
func TestCompareReal(t *testing.T) {
	c416, c419 := realcat.Graph(t, "openshift-v4.16"), realcat.Graph(t, "openshift-v4.19")
	for _, r := range []graph.Reading{graph.Classic, graph.V1} {
		for _, c := range []*graph.Catalog{c416, c419} {
			if d, err := graph.Compare(context.Background(), c, c, r); err != nil || !d.IsEmpty() || d.Lost > 0 {
				t.Errorf("%v: a catalog differs from itself: %v\n%v", r, err, d)
			}
		}
		d, err := graph.Compare(context.Background(), c416, c419, r)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: 4.16 to 4.19: %d packages changed, %d removed, %d added, %d APIs removed, %d versions stranded, %d of them lost their way",
			r, len(d.Packages), len(d.PackagesRemoved), len(d.PackagesAdded), len(d.APIsRemoved), d.Stranded, d.Lost)
		// Check each lost node: it had a path, and has none now.
		for _, p := range d.Packages {
			for _, ch := range p.Channels {
				q, _ := c416.Package(p.Name)
				u := q.Upgrades(r, &graph.UpgradeOptions{Channels: []string{ch.Name}})
				for _, n := range ch.Lost {
					if _, ok := u.PathToHead(n); !ok {
						t.Errorf("%s %s: %v had no way in the old catalog", p.Name, ch.Name, n)
					}
					if w, ok := c419.Package(p.Name); ok {
						v := w.Upgrades(r, &graph.UpgradeOptions{Channels: []string{ch.Name}, Installed: []graph.Node{n}})
						if _, ok := v.PathToHead(n); ok && slices.Contains(slices.Collect(v.Nodes()), n) {
							t.Errorf("%s %s: %v has a way in the new catalog", p.Name, ch.Name, n)
						}
					}
				}
			}
		}
	}
}

// TestPrecautions: each lost node has a precaution, whose ways exist, and there is none only if neither catalog leads on (G9).
func TestPrecautions(t *testing.T) {
	reached := func(w *walked, from graph.Node) map[string]bool {
		all := map[string]bool{}
		for queue := []graph.Node{from}; len(queue) > 0; queue = queue[1:] {
			for _, ch := range w.channels {
				u := w.p.Upgrades(w.reading, &graph.UpgradeOptions{Channels: slices.DeleteFunc([]string{ch}, func(c string) bool { return c == "" }), Installed: []graph.Node{queue[0]}})
				for s := range u.Steps(queue[0]) {
					if !all[s.To.Name] {
						all[s.To.Name] = true
						queue = append(queue, s.To)
					}
					if w.reading == graph.Classic {
						break // OLM takes the first
					}
				}
			}
		}
		return all
	}
	befores, afters, none := 0, 0, 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 79))
		before, after := generate(r), generate(r)
		old, new := parse(t, before), parse(t, after)
		for _, reading := range []graph.Reading{graph.Classic, graph.V1} {
			d := diff(t, old, new, reading)
			was, is := walk(old, reading), walk(new, reading)
			for _, p := range d.Packages {
				lost := 0
				for _, c := range p.Channels {
					lost += len(c.Lost)
				}
				if lost != len(p.Precautions) {
					t.Errorf("%d precautions for %d lost nodes", len(p.Precautions), lost)
				}
				for _, x := range p.Precautions {
					from := x.From
					if x.Before != nil {
						befores++
						if !reached(was, from)[x.Before.End().Name] {
							t.Errorf("%v from %v in %s: the old catalog does not lead to %v", reading, from, x.Channel, x.Before.End())
						}
						from = x.Before.End()
					}
					if x.After != nil {
						afters++
						if !reached(is, from)[x.After.End().Name] {
							t.Errorf("%v from %v in %s: the new catalog does not lead to %v", reading, from, x.Channel, x.After.End())
						}
					}
					if x.Before != nil || x.After != nil {
						continue
					}
					none++
					all, end := reached(is, from), from
					if u := new.Upgrades(reading, &graph.UpgradeOptions{Channels: []string{x.Channel}, Installed: []graph.Node{from}}); u.Err() == nil {
						end = u.Walk(from).End // where OLM takes it on its own
					}
					for _, u := range is.of {
						for _, h := range u.Heads() {
							highest := len(version(h).Pre) == 0 && version(h).GT(version(from)) && version(h).GT(version(end))
							for b := range new.Bundles() {
								highest = highest && !(all[b.Name()] && b.Version().GT(version(h)))
							}
							if highest && all[h.Name] {
								t.Errorf("%v from %v in %s: the new catalog leads to %v", reading, from, x.Channel, h)
							}
						}
					}
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s\n%s", seed, before, after)
		}
	}
	if befores == 0 || afters == 0 || none == 0 {
		t.Errorf("%d ways before the new catalog, %d with it, none for %d nodes", befores, afters, none)
	}
}
