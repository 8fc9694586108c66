// Package testctx makes contexts that end in the middle of an operation, for tests of cancellation. They do not depend
// on a clock.
package testctx

import (
	"context"
	"sync/atomic"
)

// EndsAfter returns a context that ends with a cause after n calls of its methods or of context.Cause.
func EndsAfter(n int, cause error) context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &counted{Context: ctx, end: func() { cancel(cause) }}
	c.left.Store(int64(n))
	return c
}

type counted struct {
	context.Context
	left atomic.Int64
	end  func()
}

func (c *counted) look() {
	if c.left.Add(-1) == 0 {
		c.end()
	}
}

// Done returns the channel of the context.
func (c *counted) Done() <-chan struct{} {
	c.look()
	return c.Context.Done()
}

// Err returns the error of the context, which is context.Canceled.
func (c *counted) Err() error {
	c.look()
	return c.Context.Err()
}

// Value is what context.Cause calls.
func (c *counted) Value(key any) any {
	c.look()
	return c.Context.Value(key)
}
