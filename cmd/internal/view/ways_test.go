package view

import (
	"slices"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
)

// follow does what the page's script does with a table: it goes from node to node until one stays or repeats.
func follow(w *waysData, from int) (path []int, loops bool) {
	next := map[int]int{}
	for _, s := range w.Steps {
		next[s[0]] = s[1]
	}
	seen := map[int]bool{}
	for at := from; ; {
		seen[at] = true
		to, ok := next[at]
		if !ok || to < 0 {
			return path, false
		}
		path = append(path, to)
		if at = to; seen[at] {
			return path, true
		}
	}
}

// TestWaysAreThoseOfGraph checks that the tables give the paths that package graph returns for a single channel,
// although they cover all versions of the package (B3, B5, B8).
func TestWaysAreThoseOfGraph(t *testing.T) {
	check := func(t *testing.T, c *graph.Catalog) {
		n := 0
		for p := range c.Packages() {
			b := pkgBuilder{pkg: p, number: map[graph.Node]int{}}
			b.build(nil)
			d := b.data
			for i, ch := range slices.Collect(p.Channels()) {
				x := d.Channels[i]
				for _, reading := range []struct {
					reading graph.Reading
					ways    *waysData
				}{{graph.Classic, x.Classic}, {graph.V1, x.V1}} {
					u := p.Upgrades(reading.reading, &graph.UpgradeOptions{Channels: []string{ch.Name()}})
					for from := range u.Nodes() {
						n++
						w := u.Walk(from)
						var want []int
						for _, s := range w.Steps {
							want = append(want, b.number[s.To])
						}
						path, loops := follow(reading.ways, b.number[from])
						if !slices.Equal(path, want) || loops != w.Loops {
							t.Errorf("%s %s, %v from %v: %v, want %v", p.Name(), ch.Name(), reading.reading, from, path, want)
						}
						if head := len(path) == 0 && slices.Contains(reading.ways.Heads, b.number[from]) || len(path) > 0 && slices.Contains(reading.ways.Heads, path[len(path)-1]); head != w.AtHead {
							t.Errorf("%s %s, %v from %v: at head is %v, want %v", p.Name(), ch.Name(), reading.reading, from, head, w.AtHead)
						}
					}
				}
			}
		}
		if n < 40 {
			t.Fatalf("only %d ways were compared", n)
		}
		t.Logf("%d ways compared", n)
	}
	t.Run("sample", func(t *testing.T) { check(t, loadSample(t)) })
	for _, name := range realcat.Names {
		t.Run(name, func(t *testing.T) {
			if name == "community-invalid" {
				t.Skip("does not load")
			}
			check(t, realcat.Graph(t, name))
		})
	}
}

// TestRails checks that a range over many versions is drawn as one line past them.
func TestRails(t *testing.T) {
	c := load(t, `
{"schema":"olm.package","name":"p","defaultChannel":"c"}
{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"p.v1.0.0"},{"name":"p.v1.0.1"},{"name":"p.v1.0.2"},{"name":"p.v1.1.0","replaces":"p.v1.0.2","skipRange":">=1.0.0 <1.1.0"}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.0.1","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.1"}}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.0.2","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.2"}}]}
{"schema":"olm.bundle","package":"p","name":"p.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.1.0"}}]}
`)
	p, _ := c.Package("p")
	b := pkgBuilder{pkg: p, number: map[graph.Node]int{}}
	b.build(nil)
	d := b.data
	// The newest is node 0.
	want := [][3]int{{1, 0, edgeReplaces}, {2, 0, edgeRange}, {3, 2, edgeRange}}
	if got := d.Channels[0].Edges; !slices.Equal(got, want) {
		t.Errorf("edges are %v, want %v", got, want)
	}
}
