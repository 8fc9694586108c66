package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/sample"
	"github.com/olmkit/olmkit/resolver"
)

// sampleProblem has a conflict in one part and a plan for another.
func sampleProblem(t *testing.T, partial bool) resolver.Problem {
	t.Helper()
	index, err := graph.Load(t.Context(), sample.Catalog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolver.Problem{
		Namespace: "a",
		Catalogs:  []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: index}},
		Subscriptions: []resolver.Subscription{
			{Package: "etcd", Channel: "stable"}, {Package: "etcd-backup-tool"}, {Package: "prometheus"},
		},
		Options: resolver.Options{Partial: partial},
	}
}

// TestSharedAnswers calls all methods that compute lazily from several goroutines, and checks that each gets the
// result of a single goroutine (D15). Run it with the race detector.
func TestSharedAnswers(t *testing.T) {
	ctx := t.Context()
	sol, err := resolver.Resolve(ctx, sampleProblem(t, true))
	if err != nil {
		t.Fatal(err)
	}
	_, err = resolver.Resolve(ctx, sampleProblem(t, false))
	var conflict *resolver.Conflict
	if !errors.As(err, &conflict) || sol.Refused == nil || len(sol.Selected) == 0 {
		t.Fatalf("the sample has no conflict, or no plan in addition to it: %v", err)
	}
	ask := func() string {
		out := conflict.Error() + sol.Refused.Error()
		for _, c := range []*resolver.Conflict{conflict, sol.Refused} {
			text, err := c.Text(ctx, 80, nil)
			data, err2 := c.MarshalJSON()
			out += fmt.Sprint(text, err, string(data), err2)
		}
		why, err := sol.Why(ctx, sol.Selected[0].Name)
		asks, err5 := sol.RequiredBy(ctx, sol.Selected[0].Name)
		not, err2 := sol.WhyNot(ctx, "etcdoperator.v0.9.0")
		planned, err3 := conflict.Planned().Why(ctx, sol.Selected[0].Name)
		digest, err4 := sol.Digest()
		return out + fmt.Sprint(why, err, asks, err5, not, err2, planned, err3, digest, err4)
	}
	want := ask()
	sol2, err := resolver.Resolve(ctx, sampleProblem(t, true))
	if err != nil {
		t.Fatal(err)
	}
	sol = sol2 // nothing is computed yet
	if _, err := resolver.Resolve(ctx, sampleProblem(t, false)); !errors.As(err, &conflict) {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if got := ask(); got != want {
				t.Errorf("one of several goroutines got\n%s\nwant\n%s", got, want)
			}
		})
	}
	wg.Wait()
}

// TestSharedAnswersObeyContexts checks that a goroutine stops waiting for another one's result when its context ends.
func TestSharedAnswersObeyContexts(t *testing.T) {
	_, err := resolver.Resolve(t.Context(), sampleProblem(t, false))
	var conflict *resolver.Conflict
	if !errors.As(err, &conflict) {
		t.Fatal(err)
	}
	defer resolver.Occupy(conflict)()
	for what, ask := range map[string]func(context.Context) error{
		"Report": func(ctx context.Context) error { _, err := conflict.Report(ctx); return err },
		"Fixes":  func(ctx context.Context) error { _, err := conflict.Cores[0].Fixes(ctx, 0); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		go cancel() // canceled before or during the wait
		if err := ask(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s returned %v", what, err)
		}
	}
}
