package flight_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/olmkit/olmkit/kube/internal/flight"
)

func TestCallersShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		calls := 0
		open := make(chan struct{})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				v, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { calls++; <-open; return 7, nil })
				if v != 7 || err != nil {
					t.Errorf("Do = %d, %v; want 7", v, err)
				}
			})
		}
		synctest.Wait()
		close(open)
		wg.Wait()
		if calls != 1 {
			t.Errorf("%d calls for ten callers; want 1", calls)
		}
	})
}

func TestLastWaiterCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		ended := make(chan error, 1)
		work := func(ctx context.Context) (int, error) { <-ctx.Done(); ended <- ctx.Err(); return 0, ctx.Err() }
		one, leaveOne := context.WithCancel(t.Context())
		two, leaveTwo := context.WithCancelCause(t.Context())
		errs := make(chan error, 2)
		for _, ctx := range []context.Context{one, two} {
			go func() { _, err := g.Do(ctx, "a", work); errs <- err }()
		}
		synctest.Wait()
		leaveOne()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("the first caller to leave got %v; want context.Canceled", err)
		}
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("the work was canceled while a caller waited")
		default:
		}
		why := errors.New("no more patience")
		leaveTwo(why)
		if err := <-errs; err != why {
			t.Errorf("the last caller to leave got %v; want the cause of its context", err)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the work ended with %v; want context.Canceled", err)
		}
		if v, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { return 3, nil }); v != 3 || err != nil {
			t.Errorf("the next Do = %d, %v; want 3", v, err)
		}
	})
}

// TestPanic checks that all callers get a panic as an error, and that the next
// call starts again.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g flight.Group[string, int]
		open := make(chan struct{})
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				_, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { <-open; panic("no such thing") })
				var p *flight.PanicError
				if !errors.As(err, &p) || p.Value != "no such thing" || len(p.Stack) == 0 {
					t.Errorf("Do returns %v; want the panic", err)
				}
			})
		}
		synctest.Wait()
		close(open)
		wg.Wait()
		if v, err := g.Do(t.Context(), "a", func(context.Context) (int, error) { return 3, nil }); v != 3 || err != nil {
			t.Errorf("the next Do = %d, %v; want 3", v, err)
		}
	})
}
