package graph_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// TestLink builds catalogs of blobs in any order, in which packages share names and define some
// twice. It compares the bundles of each package, and the bundle of each entry, with what a
// search of the blobs finds.
func TestLink(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(kind string, n int) string { return fmt.Sprint(kind, r.IntN(n)) }
		at := func() fbc.Pos { return fbc.Pos{File: pick("f", 3), Line: 1 + r.IntN(3)} }
		blobs := &fbc.Catalog{}
		for range r.IntN(12) {
			b := &fbc.Bundle{Image: fmt.Sprint(len(blobs.Bundles))}
			b.Package, b.Name, b.Pos = pick("p", 3), pick("b", 5), at()
			blobs.Bundles = append(blobs.Bundles, b)
		}
		for range r.IntN(5) {
			ch := &fbc.Channel{}
			ch.Package, ch.Name, ch.Pos = pick("p", 3), pick("c", 2), at()
			for range r.IntN(4) {
				ch.Entries = append(ch.Entries, fbc.Entry{Name: pick("b", 5)})
			}
			blobs.Channels = append(blobs.Channels, ch)
		}
		c, err := graph.Build(t.Context(), blobs, nil)
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Clone(blobs.Bundles)
		slices.SortStableFunc(sorted, func(x, y *fbc.Bundle) int {
			return cmp.Or(cmp.Compare(x.Package, y.Package), cmp.Compare(x.Name, y.Name), x.Pos.Compare(y.Pos))
		})
		var got []string
		entries := 0
		for p := range c.Packages() {
			for b := range p.Bundles() {
				got = append(got, b.Image())
			}
			for ch := range p.Channels() {
				for e := range ch.Entries() {
					entries++
					image := ""
					if b, ok := e.Bundle(); ok {
						image = b.Image()
					}
					want := ""
					if i := slices.IndexFunc(sorted, func(b *fbc.Bundle) bool { return b.Package == p.Name() && b.Name == e.Name() }); i >= 0 {
						want = sorted[i].Image
					}
					if image != want {
						t.Errorf("seed %d: entry %s of %s has bundle %q, want %q", seed, e.Name(), p.Name(), image, want)
					}
				}
			}
		}
		for _, ch := range blobs.Channels {
			entries -= len(ch.Entries)
		}
		if want := images(sorted); !slices.Equal(got, want) || entries != 0 {
			t.Errorf("seed %d: bundles %q, want %q; %d entries too many", seed, got, want, entries)
		}
	}
}

func images(list []*fbc.Bundle) (out []string) {
	for _, b := range list {
		out = append(out, b.Image)
	}
	return out
}
