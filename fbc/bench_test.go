package fbc

import (
	"context"
	"testing"
)

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"community", "community-full", "openshift-v4.19"} {
		for _, keep := range []bool{false, true} {
			b.Run(name+map[bool]string{false: "/keep=resolution", true: "/keep=all"}[keep], func(b *testing.B) {
				tree := realTree(b, name)
				var bytes int64
				b.ReportAllocs()
				for b.Loop() {
					_, err := Load(context.Background(), tree, &LoadOptions{KeepAll: keep, Progress: func(p Progress) { bytes = p.Bytes }})
					if err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(bytes)
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, name := range []string{"community", "openshift-v4.19"} {
		for ext, s := range syntaxes {
			b.Run(name+"/"+ext, func(b *testing.B) {
				c, err := Load(context.Background(), realTree(b, name), &LoadOptions{KeepAll: true})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				var n int
				for b.Loop() {
					n = len(written(b, c, s))
				}
				b.SetBytes(int64(n))
			})
		}
	}
}
