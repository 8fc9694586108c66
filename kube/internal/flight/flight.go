// Package flight lets callers that want the same thing at the same time share
// the work.
//
// It differs from golang.org/x/sync/singleflight in whose context counts: the
// work goes on for as long as anybody waits for it, and ends when the last one
// has left. There, one impatient caller either fails all others or is kept
// waiting.
package flight

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// A Group shares calls by key. Its zero value is ready for use by any number of
// goroutines.
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

// Do calls fn, or waits for the call that is under way for the key, and returns
// its result. fn gets the values of the first caller's context and is cancelled
// when nobody waits any more; each caller's own context ends its own waiting. A
// panic of fn is an error for all who wait, a [*PanicError].
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
			// Whoever comes now starts anew, and does not get the error of a call
			// that was cancelled before.
			g.forget(key, c)
			c.cancel()
		}
		g.mu.Unlock()
		var none V
		return none, context.Cause(ctx)
	}
}

// A PanicError says that the work panicked.
type PanicError struct {
	Value any
	// Stack is that of the goroutine that panicked.
	Stack []byte
}

// Error tells what panicked, with the stack: it is a fault of the program, which
// nobody can find without.
func (e *PanicError) Error() string {
	return fmt.Sprintf("a fault of the program, please report it: %v\n%s", e.Value, e.Stack)
}

// guarded calls fn. The goroutine is nobody's: were a panic left alone, no caller
// could recover it, and the whole process would end.
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
