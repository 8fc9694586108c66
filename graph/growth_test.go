package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
)

// TestSharedSearches compares one search for many nodes with a separate search
// for each.
func TestSharedSearches(t *testing.T) {
	c := realcat.Graph(t, "openshift-v4.19")
	n := 0
	for p := range c.Packages() {
		if p.NumBundles() > 40 {
			continue
		}
		classic, v1 := p.Upgrades(graph.Classic, nil), p.Upgrades(graph.V1, nil)
		var want []graph.Node
		for from := range v1.Nodes() {
			a, b := slices.Collect(classic.Reachable(from)), slices.Collect(v1.Reachable(from))
			s, moves := classic.Next(from)
			moves = moves && s.To != from
			x, follows := v1.Next(from)
			if !slices.Equal(a, b) || moves != follows || moves && s.To != x.To {
				want = append(want, from)
			}
			paths := v1.Paths(from)
			for to := range v1.Nodes() {
				path, ok := v1.Path(from, to)
				got, found := paths.Path(to)
				hops, _ := paths.Hops(to)
				if ok != found || hops != len(path) || !cmp.Equal(path, got) {
					t.Fatalf("%s: from %s to %s: %d hops, %v, %v", p.Name(), from, to, hops, got, path)
				}
			}
			n++
		}
		var got []graph.Node
		for _, d := range p.Disagreements(nil) {
			got = append(got, d.From)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: nodes that the readings take elsewhere:\n%s", p.Name(), d)
		}
	}
	t.Logf("%d nodes", n)
}

// BenchmarkDisagreementsChain measures Disagreements for a long chain of replaces, on which
// both readings agree.
func BenchmarkDisagreementsChain(b *testing.B) {
	var text strings.Builder
	text.WriteString("s: 1.0.0")
	for i := 1; i < 4000; i++ {
		fmt.Fprintf(&text, ", 1.0.%d <1.0.%d", i, i-1)
	}
	p := parse(b, text.String())
	for b.Loop() {
		if d := p.Disagreements(nil); len(d) > 0 {
			b.Fatal(d[0])
		}
	}
}
