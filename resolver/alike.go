package resolver

import (
	"strconv"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/fact"
)

// An exprs assigns numbers to constraints. Constraints that differ only in their messages
// have the same number.
type exprs map[exprKey]int

type exprKey struct {
	kind  byte
	api   property.GVK
	name  string
	value string
	parts string // the numbers of the parts
}

func (known exprs) number(x constraints.Expr) int {
	var key exprKey
	switch x := x.(type) {
	case *constraints.All:
		key = exprKey{kind: 'a', parts: known.numbers(x.Of)}
	case *constraints.Any:
		key = exprKey{kind: 'o', parts: known.numbers(x.Of)}
	case *constraints.Not:
		key = exprKey{kind: 'n', parts: known.numbers(x.Of)}
	case *constraints.GVK:
		key = exprKey{kind: 'g', api: x.GVK}
	case *constraints.Package:
		key = exprKey{kind: 'p', name: x.Name, value: x.Range.String()}
	case *constraints.Label:
		key = exprKey{kind: 'l', value: x.Label}
	case *constraints.CEL:
		key = exprKey{kind: 'c', value: x.Rule}
	}
	n, ok := known[key]
	if !ok {
		n = len(known) + 1
		known[key] = n
	}
	return n
}

func (known exprs) numbers(list []constraints.Expr) string {
	var b []byte
	for _, x := range list {
		b = append(strconv.AppendInt(b, int64(known.number(x)), 10), ' ')
	}
	return string(b)
}

// A likeness is what a fact states about its owner, in a form that can be a map key.
// Facts with equal likenesses differ only in their owners.
type likeness struct {
	code   fact.Code
	expr   int
	policy Policy
	err    string // part of the sentence
	fact   int    // the index of a fact that is not like any other
}

// like returns a number for fact i. Facts that state the same thing about their owners
// have the same number.
func (e *encoding) like(i int) int {
	l := likeness{code: e.facts[i].Code()}
	switch f := e.facts[i].Fact.(type) {
	case *fact.Requires:
		l.expr = e.r.u.exprs.number(f.Requirement)
	case *fact.Prohibited:
	case *fact.Unusable:
		l.err = f.Err.Error()
	case *fact.PolicyBlocked:
		l.policy = f.Policy
	case *fact.InstallMode:
		l.err = f.Err.Error()
	default:
		l.fact = i
	}
	n, ok := e.likes[l]
	if !ok {
		n = len(e.likes) + 1
		e.likes[l] = n
	}
	return n
}
