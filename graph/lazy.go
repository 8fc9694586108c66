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
	parser *parser                   // of an opened index
}

// A parser parses the requirements of an opened index. Packages that state the same
// requirement share its expression.
type parser struct {
	mu       sync.Mutex
	compiler *constraints.Compiler
	parsed   map[[2]string]*outcome[constraints.Expr] // by type and value
}

func (p *parser) parse(typ, value string) *outcome[constraints.Expr] {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.parsed[[2]string{typ, value}]
	if o == nil {
		x, _, err := p.compiler.FromProperty(property.Property{Type: typ, Value: json.RawMessage(value)})
		o = &outcome[constraints.Expr]{x, err}
		p.parsed[[2]string{typ, value}] = o
	}
	return o
}

// expr returns the expression of a requirement.
func (c *Catalog) expr(i uint32) (constraints.Expr, error) {
	l := &c.meaning.exprs[i]
	o := l.at.Load()
	if o == nil {
		r := c.requirements[i]
		o = c.meaning.parser.parse(c.str(r.typ), c.str(r.value))
		l.at.Store(o)
	}
	return o.value, o.err
}

// requirementID returns the [Requirement.ID] of a requirement.
func (c *Catalog) requirementID(i uint32) int {
	if c.ids != nil {
		return int(c.ids[i])
	}
	return int(i)
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
