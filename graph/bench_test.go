package graph_test

import (
	"context"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testcatalog"
)

// benchFS runs a benchmark on generated catalogs of 1, 10 and 100 times the
// size of a platform's, and on the real catalogs if they are available.
func benchFS(b *testing.B, f func(b *testing.B, fsys fs.FS, size int64)) {
	run := func(name string, open func(b *testing.B) fs.FS) {
		b.Run(name, func(b *testing.B) {
			fsys := open(b)
			var size int64
			for _, file := range fsys.(fstest.MapFS) {
				size += int64(len(file.Data))
			}
			f(b, fsys, size)
		})
	}
	for _, times := range []int{1, 10, 100} {
		run(fmt.Sprintf("catalog=%dx", times), func(*testing.B) fs.FS { return testcatalog.Sized(times) })
	}
	for _, name := range []string{"openshift-v4.19", "community", "community-full"} {
		run(name, func(b *testing.B) fs.FS { return realcat.FS(b, name) })
	}
}

// BenchmarkLoad reads and indexes a catalog that is in memory as text.
func BenchmarkLoad(b *testing.B) {
	benchFS(b, func(b *testing.B, fsys fs.FS, size int64) {
		b.SetBytes(size)
		b.ReportAllocs()
		for b.Loop() {
			c, err := graph.Load(context.Background(), fsys, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(c.Size().Bundles), "bundles")
		}
	})
}

// BenchmarkBuild indexes a loaded catalog.
func BenchmarkBuild(b *testing.B) {
	benchFS(b, func(b *testing.B, fsys fs.FS, _ int64) {
		blobs, err := fbc.Load(context.Background(), fsys, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			c, err := graph.Build(context.Background(), blobs, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(c.Size().Entries), "entries")
		}
	})
}

// BenchmarkLookUp measures the lookups of a resolution in indexes of different
// sizes. Their cost grows at most logarithmically.
func BenchmarkLookUp(b *testing.B) {
	for _, times := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("catalog=%dx", times), func(b *testing.B) {
			c, err := graph.Load(context.Background(), testcatalog.Sized(times), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				p, ok := c.Package(testcatalog.Name(0, 7))
				ch, ok2 := p.DefaultChannel()
				h, ok3 := ch.Head()
				x, ok4 := h.Bundle()
				if !ok || !ok2 || !ok3 || !ok4 {
					b.Fatal("not found")
				}
				n := 0
				for g := range x.APIs() {
					for range c.Providers(g) {
						n++
					}
				}
				if n == 0 {
					b.Fatal("nothing provides")
				}
			}
		})
	}
}
