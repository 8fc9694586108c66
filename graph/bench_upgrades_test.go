package graph_test

import (
	"context"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
)

// BenchmarkCommunity measures indexing the community catalog from loaded blobs,
// and finding all steps of all channels and all shortest paths.
func BenchmarkCommunity(b *testing.B) {
	blobs, err := fbc.Load(context.Background(), realcat.FS(b, "community"), nil)
	if err != nil {
		b.Fatal(err)
	}
	c, err := graph.Build(context.Background(), blobs, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := graph.Build(context.Background(), blobs, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	each := func(do func(*graph.Upgrades)) {
		for p := range c.Packages() {
			for ch := range p.Channels() {
				do(p.Upgrades(graph.Classic, &graph.UpgradeOptions{Channels: []string{ch.Name()}}))
			}
		}
	}
	b.Run("upgrades", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n = 0
			each(func(u *graph.Upgrades) {
				for range u.Nodes() {
					n++
				}
			})
		}
		b.ReportMetric(float64(n), "nodes")
	})
	b.Run("paths", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n = 0
			each(func(u *graph.Upgrades) { n += pairs(u) })
		}
		b.ReportMetric(float64(n), "paths")
	})
	b.Run("packages-v1", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			n = 0
			for p := range c.Packages() {
				n += pairs(p.Upgrades(graph.V1, nil))
			}
		}
		b.ReportMetric(float64(n), "paths")
	})
}

// pairs returns the number of ordered pairs of different nodes with a path.
func pairs(u *graph.Upgrades) int {
	n := 0
	for from := range u.Nodes() {
		paths := u.Paths(from)
		for to := range u.Nodes() {
			if hops, ok := paths.Hops(to); ok && hops > 0 {
				n++
			}
		}
	}
	return n
}
