package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
)

// pigeons returns a problem that has no solution and that no solver gets through
// for n beyond a dozen: n+1 operators for n APIs.
func pigeons(t testing.TB, n, size int) resolver.Problem {
	t.Helper()
	c, err := graph.LoadBytes(context.Background(), []byte(testcatalog.Pigeons(n, size)), "pigeons", nil)
	if err != nil {
		t.Fatal(err)
	}
	return fresh(c, "", n+1)
}

// within fails the test unless f returns soon. What soon is must suit a loaded
// machine; it has to tell only the bounded from the unbounded.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
}

func TestPigeons(t *testing.T) {
	_, err := resolver.Resolve(context.Background(), pigeons(t, 4, 4))
	var no *resolver.Conflict
	if !errors.As(err, &no) {
		t.Fatalf("got the error %v, want a conflict", err)
	}
	// Five subscriptions and four APIs.
	if len(no.Cores) != 1 || len(no.Cores[0].Facts) != 9 {
		t.Errorf("got %d cores, the first of %d facts, want 1 of 9", len(no.Cores), len(no.Cores[0].Facts))
	}
}

// TestContext checks that a context ends a resolution, whatever it is at, with
// its cause (D18).
func TestContext(t *testing.T) {
	cause := errors.New("enough")
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		if _, err := resolver.Resolve(ctx, pigeons(t, 2, 2)); err != cause {
			t.Errorf("got the error %v, want the cause", err)
		}
	})
	for _, test := range []struct{ n, size int }{
		{14, 14},   // quickly stated, never solved
		{100, 100}, // 10,100 candidates
	} {
		name := fmt.Sprintf("candidates=%d", (test.n+1)*test.size)
		t.Run("during/"+name, func(t *testing.T) {
			p := pigeons(t, test.n, test.size)
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			time.AfterFunc(50*time.Millisecond, func() { cancel(cause) })
			within(t, func() {
				if _, err := resolver.Resolve(ctx, p); err != cause {
					t.Errorf("got the error %v, want the cause", err)
				}
			})
		})
		t.Run("deadline/"+name, func(t *testing.T) {
			p := pigeons(t, test.n, test.size)
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			within(t, func() {
				start := time.Now()
				if _, err := resolver.Resolve(ctx, p); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got the error %v, want the deadline's", err)
				}
				t.Logf("a deadline of 50 ms was obeyed after %v", time.Since(start).Round(time.Millisecond))
			})
		})
	}
}
