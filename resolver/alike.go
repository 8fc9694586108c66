package resolver

import (
	"strconv"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
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
