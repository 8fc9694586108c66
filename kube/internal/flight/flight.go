// Package flight lets concurrent callers that want the same result share the
// work.
//
// It differs from golang.org/x/sync/singleflight in its handling of contexts:
// the work continues while any caller waits for it, and is canceled when the
// last caller has left. With singleflight, a caller whose context ends either
// fails all others or has to keep waiting.
package flight

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// A Group shares calls by key. The zero value is ready to use. It is safe for
// concurrent use.
type Group[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*call[V]
}

type call[V any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	value   V
	err     error
}

// Do calls fn, or waits for the call in progress for the key, and returns its
// result. The context of fn has the values of the first caller's context and is
// canceled when no caller waits any more. If a caller's own context ends, Do
// returns the cause to that caller. If fn panics, all callers get a
// [*PanicError].
func (g *Group[K, V]) Do(ctx context.Context, key K, fn func(context.Context) (V, error)) (V, error) {
	g.mu.Lock()
	c := g.calls[key]
	if c == nil {
		shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
		c = &call[V]{done: make(chan struct{}), cancel: cancel}
		if g.calls == nil {
			g.calls = map[K]*call[V]{}
		}
		g.calls[key] = c
		go func() {
			v, err := guarded(shared, fn)
			g.mu.Lock()
			c.value, c.err = v, err
			g.forget(key, c)
			g.mu.Unlock()
			cancel()
			close(c.done)
		}()
	}
	c.waiters++
	g.mu.Unlock()

	select {
	case <-c.done:
		return c.value, c.err
	case <-ctx.Done():
		g.mu.Lock()
		if c.waiters--; c.waiters == 0 {
			// New callers start a new call instead of getting the error of the
			// canceled one.
			g.forget(key, c)
			c.cancel()
		}
		g.mu.Unlock()
		var none V
		return none, context.Cause(ctx)
	}
}

// A PanicError reports that the work panicked.
type PanicError struct {
	Value any
	// Stack is the stack trace of the goroutine that panicked.
	Stack []byte
}

// Error returns the value of the panic and the stack trace.
func (e *PanicError) Error() string {
	return fmt.Sprintf("internal error, please report it: %v\n%s", e.Value, e.Stack)
}

// guarded calls fn and recovers from a panic. Callers cannot recover from it,
// because fn runs in a separate goroutine.
func guarded[V any](ctx context.Context, fn func(context.Context) (V, error)) (v V, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{value, debug.Stack()}
		}
	}()
	return fn(ctx)
}

func (g *Group[K, V]) forget(key K, c *call[V]) {
	if g.calls[key] == c {
		delete(g.calls, key)
	}
}
