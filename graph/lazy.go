package graph

import (
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
)

// A lazy is a parsed text. It is parsed on first use, and all callers get the same
// value.
type lazy[T any] struct{ at atomic.Pointer[outcome[T]] }

type outcome[T any] struct {
	value T
	err   error
}

// keep sets the value if there is none yet, and returns the value.
func (l *lazy[T]) keep(value T, err error) *outcome[T] {
	o := &outcome[T]{value, err}
	if l.at.CompareAndSwap(nil, o) {
		return o
	}
	return l.at.Load()
}

// known returns a list of values that are already parsed.
func known[T any](list []*outcome[T]) []lazy[T] {
	out := make([]lazy[T], len(list))
	for i, o := range list {
		out[i].at.Store(o)
	}
	return out
}

// A meaning holds the parsed requirements and ranges of a catalog. They are parsed when an
// index is built, and on first use in an index that was opened.
type meaning struct {
	exprs  []lazy[constraints.Expr]  // of each requirement
	ranges []lazy[constraints.Range] // of each skipRange

	mu       sync.Mutex // guards compiler
	compiler *constraints.Compiler
}

// expr returns the expression of a requirement.
func (c *Catalog) expr(i uint32) (constraints.Expr, error) {
	l := &c.meaning.exprs[i]
	o := l.at.Load()
	if o == nil {
		r := c.requirements[i]
		c.meaning.mu.Lock()
		x, _, err := c.meaning.compiler.FromProperty(property.Property{Type: c.str(r.typ), Value: json.RawMessage(c.str(r.value))})
		c.meaning.mu.Unlock()
		o = l.keep(x, err)
	}
	return o.value, o.err
}

// skipRange returns the range with that number.
func (c *Catalog) skipRange(i uint32) (constraints.Range, error) {
	l := &c.meaning.ranges[i]
	o := l.at.Load()
	if o == nil {
		o = l.keep(constraints.ParseRange(c.str(c.ranges[i])))
	}
	return o.value, o.err
}
