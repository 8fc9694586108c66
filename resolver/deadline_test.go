package resolver_test

import (
	"context"
	"errors"
	"testing"

	"github.com/olmkit/olmkit/internal/testctx"
	"github.com/olmkit/olmkit/resolver"
)

// obeys checks that f returns the context's error when its context ends (D18).
func obeys(t *testing.T, what string, f func(ctx context.Context) error) {
	t.Helper()
	for _, looks := range []int{1, 10, 100, 1000} {
		if err := f(testctx.EndsAfter(looks, context.DeadlineExceeded)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, %d checks of the context: got %v, want the deadline", what, looks, err)
		}
	}
}

// TestDeadline checks that a deadline ends solving, shrinking, proving and fixing
// on 10,000 candidates (D18).
func TestDeadline(t *testing.T) {
	hard := pigeons(t, 10, 1000, true)
	obeys(t, "solving", func(ctx context.Context) error {
		_, err := resolver.Resolve(ctx, hard)
		return err
	})
	// Easy to refute, but slow to explain.
	no := conflictOf(t, pigeons(t, 6, 60, true))
	obeys(t, "proving", func(ctx context.Context) error {
		for {
			if _, err := no.Cores[0].Derive(ctx); err != nil {
				return err
			}
		}
	})
	obeys(t, "fixing", func(ctx context.Context) error {
		for {
			if _, err := no.Cores[0].Fixes(ctx, 0); err != nil {
				return err
			}
		}
	})
	gone, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stopped")
	cancel(stop)
	if _, err := no.Text(gone, 100, nil); !errors.Is(err, stop) {
		t.Errorf("Text: got %v, want the cause of the context", err)
	}
	if _, err := no.Report(gone); !errors.Is(err, stop) {
		t.Errorf("Report: got %v, want the cause of the context", err)
	}
	// An error message is not worth an expensive explanation.
	want := `no solution in namespace "operators": subscriptions b000-p00, b000-p01, b000-p02, b000-p03, b000-p04 and 2 others cannot be satisfied together`
	if text := no.Error(); text != want {
		t.Errorf("got the error %s\nwant %s", text, want)
	}
}

// TestLongProof checks that a proof too long to read is replaced by the list of facts, with a sentence that states
// this.
func TestLongProof(t *testing.T) {
	core := conflictOf(t, pigeons(t, 2, 2, true)).Cores[0]
	full, err := core.Derive(context.Background())
	if err != nil || full.Incomplete {
		t.Fatalf("got %v, %v, want a derivation", full, err)
	}
	d, err := resolver.DeriveWithin(context.Background(), core, 50)
	if err != nil || !d.Incomplete {
		t.Fatalf("got %v, %v, want the facts", d, err)
	}
	want := "subscriptions b000-p00, b000-p01 and b000-p02 cannot be satisfied together: these 11 facts contradict each other in too many ways to list"
	if got := d.Headline(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := len(d.Conclusion.Because); got != len(core.Facts) {
		t.Errorf("%d reasons, want one for each of %d facts", got, len(core.Facts))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := resolver.DeriveWithin(ctx, core, 50); err == nil {
		t.Error("a canceled context was not obeyed")
	}
	// The derivation can be far longer than the proof.
	if long, err := conflictOf(t, pigeons(t, 4, 4, true)).Cores[0].Derive(context.Background()); err != nil || !long.Incomplete {
		t.Errorf("got %v, %v, want the facts", long, err)
	}
	// Similar versions do not make it longer.
	many, err := conflictOf(t, pigeons(t, 2, 300, true)).Cores[0].Derive(context.Background())
	if err != nil || many.Incomplete {
		t.Errorf("got %v, %v, want a derivation", many, err)
	}
}
