package resolver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/resolver"
)

// opened returns random problems with loaded catalogs.
func opened(t testing.TB, n int) []resolver.Problem {
	var out []resolver.Problem
	for seed := range uint64(n) {
		p := randomProblem(seed)
		if err := p.Open(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

func outcomeOf(sol *resolver.Solution, err error) string {
	if err != nil {
		return err.Error()
	}
	list := slices.Clone(sol.Selected)
	for i := range list {
		list[i].Bundle = graph.Bundle{} // from one catalog or the other
	}
	return fmt.Sprint(list, sol.Stayed)
}

// TestResolveAll checks that a batch gives the same answers in the same order as resolving
// one problem at a time, at any concurrency: reused memory must not affect them.
func TestResolveAll(t *testing.T) {
	problems := opened(t, 400)
	var want []string
	for _, p := range problems {
		want = append(want, outcomeOf(resolver.Resolve(context.Background(), p)))
	}
	for _, n := range []int{0, 1, 7} {
		var got []string
		for r := range resolver.ResolveAll(context.Background(), slices.Values(problems), &resolver.BatchOptions{Concurrency: n, Ahead: n}) {
			got = append(got, outcomeOf(r.Solution, r.Err))
		}
		if !slices.Equal(got, want) {
			t.Errorf("with %d goroutines the answers differ", n)
		}
	}
}

func TestResolveAllEnds(t *testing.T) {
	problems := opened(t, 50)
	t.Run("context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		n := 0
		for r := range resolver.ResolveAll(ctx, slices.Values(problems), nil) {
			if n++; n == 1 {
				cancel()
			}
			if n == len(problems) && !errors.Is(r.Err, context.Canceled) {
				t.Errorf("the last problem has the error %v", r.Err)
			}
		}
		if n != len(problems) {
			t.Errorf("%d results for %d problems", n, len(problems))
		}
	})
	t.Run("caller", func(t *testing.T) {
		ended := false // not guarded: the race detector reports a goroutine that continues
		endless := func(yield func(resolver.Problem) bool) {
			for yield(problems[0]) {
			}
			ended = true
		}
		for range resolver.ResolveAll(context.Background(), iter.Seq[resolver.Problem](endless), nil) {
			break
		}
		if !ended {
			t.Error("the problems are still read")
		}
	})
	t.Run("panic", func(t *testing.T) {
		n := 0
		defer func() {
			if got := recover(); got != "no more problems" || n != 2 {
				t.Errorf("recovered %v after %d results", got, n)
			}
		}()
		for range resolver.ResolveAll(context.Background(), func(yield func(resolver.Problem) bool) {
			yield(problems[0])
			yield(problems[1])
			panic("no more problems")
		}, nil) {
			n++
		}
	})
}

// TestResolveOpened checks that an opened index gives the same answers as its catalog.
func TestResolveOpened(t *testing.T) {
	for seed := range uint64(150) {
		p := randomProblem(seed)
		if err := p.Open(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		want := outcomeOf(resolver.Resolve(context.Background(), p))
		p.Catalogs = slices.Clone(p.Catalogs)
		for i := range p.Catalogs {
			if p.WhyUnseen(p.Catalogs[i].ID()) != "" {
				continue // not loaded
			}
			var b bytes.Buffer
			if err := graph.WriteIndex(context.Background(), &b, p.Catalogs[i].Graph, ""); err != nil {
				t.Fatal(err)
			}
			c, err := graph.ReadIndex(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Catalogs[i].Graph = c
		}
		if got := outcomeOf(resolver.Resolve(context.Background(), p)); got != want {
			t.Errorf("seed %d: from the index\n%s\nfrom the catalog\n%s", seed, got, want)
		}
	}
}

// BenchmarkResolveAll resolves ten thousand namespaces of ten subscriptions.
func BenchmarkResolveAll(b *testing.B) {
	c := realcat.Graph(b, "community")
	var pkgs []graph.Package
	for p := range c.Packages() {
		pkgs = append(pkgs, p)
	}
	const namespaces, subscriptions = 10_000, 10
	fleet := func(yield func(resolver.Problem) bool) {
		for n := range namespaces {
			p := resolver.Problem{Namespace: fmt.Sprint("ns", n), Catalogs: []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: c}}}
			for i := range subscriptions {
				pkg := pkgs[(n*31+i*17)%len(pkgs)]
				p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: pkg.Name(), Channel: pkg.DefaultChannelName()})
			}
			if !yield(p) {
				return
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		n, solved := 0, 0
		for r := range resolver.ResolveAll(context.Background(), fleet, nil) {
			if n++; r.Err == nil {
				solved++
			}
		}
		b.ReportMetric(float64(n), "namespaces")
		b.ReportMetric(float64(solved), "solved")
	}
}
