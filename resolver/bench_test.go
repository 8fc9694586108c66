package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// sized returns the index of a generated catalog, built once.
func sized(b *testing.B, times int) *graph.Catalog {
	name := fmt.Sprintf("generated %d times", times)
	if c := trees[name]; c != nil {
		return c
	}
	c, err := graph.Load(context.Background(), testcatalog.Sized(times), nil)
	if err != nil {
		b.Fatal(err)
	}
	trees[name] = c
	return c
}

// over returns a problem over one catalog.
func over(c *graph.Catalog) resolver.Problem {
	return resolver.Problem{
		Namespace: "operators",
		Catalogs:  []resolver.Catalog{{Name: "catalog", Namespace: "olm", Graph: c}},
	}
}

// fresh returns n subscriptions to packages of the first block of a generated
// catalog.
func fresh(c *graph.Catalog, channel string, n int) resolver.Problem {
	p := over(c)
	for i := range n {
		p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: testcatalog.Name(0, i), Channel: channel})
	}
	return p
}

// upgrade returns n subscriptions whose operators are at version 3.
func upgrade(b *testing.B, c *graph.Catalog, n int) resolver.Problem {
	p := fresh(c, "stable", n)
	for i := range p.Subscriptions {
		s := &p.Subscriptions[i]
		pkg, _ := c.Package(s.Package)
		x, ok := pkg.Bundle(testcatalog.Bundle(s.Package, 3))
		if !ok {
			b.Fatal("no such bundle")
		}
		var props []property.Property
		for q := range x.Properties() {
			props = append(props, q)
		}
		s.InstalledCSV = x.Name()
		p.Installed = append(p.Installed, resolver.Installed{Name: x.Name(), Version: x.Version().String(), Package: s.Package, Properties: props})
	}
	return p
}

// solve measures the resolution of a problem.
func solve(b *testing.B, p resolver.Problem, want bool) {
	b.ReportAllocs()
	selected := 0
	for b.Loop() {
		sol, err := resolver.Resolve(context.Background(), p)
		var no *resolver.Conflict
		switch {
		case want && err != nil, !want && !errors.As(err, &no):
			b.Fatalf("solvable: want %v, got %v", want, err)
		case want:
			selected = len(sol.Selected)
		}
	}
	b.ReportMetric(float64(selected), "selected")
}

// BenchmarkResolve resolves the same requests over catalogs of 1, 10 and 100 times the size
// of a platform's. The reachable bundles are the same, so the cost should be too. In channel
// fast no head can be installed, so a solver must decide.
func BenchmarkResolve(b *testing.B) {
	for _, times := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("catalog=%dx", times), func(b *testing.B) {
			c := sized(b, times)
			for _, n := range []int{1, 10, 30} {
				b.Run(fmt.Sprintf("fresh=%d", n), func(b *testing.B) { solve(b, fresh(c, "stable", n), true) })
			}
			b.Run("upgrade=10", func(b *testing.B) { solve(b, upgrade(b, c, 10), true) })
			b.Run("searched=10", func(b *testing.B) { solve(b, fresh(c, "fast", 10), true) })
			b.Run("refused=10", func(b *testing.B) {
				p := fresh(c, "stable", 10)
				p.Subscriptions[7].Channel, p.Subscriptions[7].StartingCSV = "fast", testcatalog.Name(0, 7)+".v2.0.0-rc.1"
				solve(b, p, false)
			})
		})
	}
}

// BenchmarkResolveReal resolves over the real catalogs, if they are available.
func BenchmarkResolveReal(b *testing.B) {
	for _, name := range []string{"openshift-v4.16", "openshift-v4.19", "community"} {
		b.Run(name, func(b *testing.B) {
			c := realcat.Graph(b, name)
			for _, n := range []int{1, 10, 30} {
				b.Run(fmt.Sprintf("fresh=%d", n), func(b *testing.B) { solve(b, compatible(b, c, n), true) })
			}
		})
	}
}

// compatible returns subscriptions to the first packages by name that can be
// installed together.
func compatible(b *testing.B, c *graph.Catalog, n int) resolver.Problem {
	p := over(c)
	for pkg := range c.Packages() {
		if len(p.Subscriptions) == n {
			return p
		}
		more := p
		more.Subscriptions = append(p.Subscriptions[:len(p.Subscriptions):len(p.Subscriptions)], resolver.Subscription{Package: pkg.Name()})
		if _, err := resolver.Resolve(context.Background(), more); err == nil {
			p = more
		}
	}
	b.Skipf("only %d packages go together", len(p.Subscriptions))
	return p
}

// BenchmarkConformance resolves all recorded cases of a file in sequence.
func BenchmarkConformance(b *testing.B) {
	for _, name := range []string{"classic-simple.jsonl", "classic-compound.jsonl", "real-community.jsonl"} {
		b.Run(name, func(b *testing.B) {
			cases := readCases(b, name)
			problems := make([]resolver.Problem, len(cases))
			for i := range cases {
				problems[i] = problemOf(b, &cases[i])
			}
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range problems {
					var no *resolver.Conflict
					if _, err := resolver.Resolve(context.Background(), p); err != nil && !errors.As(err, &no) {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkExplainAll explains every conflict of the recorded cases once, and reports the median and the longest time of
// an explanation with its fixes, from the problem to the text.
func BenchmarkExplainAll(b *testing.B) {
	for _, name := range []string{"classic-simple.jsonl", "classic-compound.jsonl", "real-community.jsonl", "real-openshift-v4.16.jsonl", "real-openshift-v4.19.jsonl"} {
		b.Run(name, func(b *testing.B) {
			cases := readCases(b, name)
			problems := make([]resolver.Problem, len(cases))
			for i := range cases {
				problems[i] = problemOf(b, &cases[i])
			}
			for b.Loop() {
				var times []time.Duration
				for _, p := range problems {
					start := b.Elapsed()
					var no *resolver.Conflict
					if _, err := resolver.Resolve(context.Background(), p); !errors.As(err, &no) {
						continue
					}
					if _, err := no.Text(context.Background(), 100, nil); err != nil {
						b.Fatal(err)
					}
					times = append(times, b.Elapsed()-start)
				}
				slices.Sort(times)
				b.ReportMetric(float64(len(times)), "conflicts")
				b.ReportMetric(float64(times[len(times)/2].Microseconds()), "median-µs")
				b.ReportMetric(float64(times[len(times)-1].Microseconds()), "longest-µs")
			}
		})
	}
}
