package graph_test

import (
	"context"
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
