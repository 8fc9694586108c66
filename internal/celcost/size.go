package celcost

import (
	celast "github.com/google/cel-go/common/ast"

	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// The time of CEL's type checker grows with the square of the number of empty
// lists and maps, whose types are open, and with the cube of the nesting of
// macros. These therefore count as more than one node. The checker also copies
// the target of optMap, so the tree doubles with each call before its nodes can
// be counted.

const (
	emptyNodes  = 10 // an empty list or map
	maxExpanded = 1 << 20
)

// Parts returns the parts of an expression, but none of a macro: its range, initial value,
// condition, step and result have separate meanings.
func Parts(x celast.Expr) (parts []celast.Expr) {
	switch x.Kind() {
	case celast.CallKind:
		if x.AsCall().IsMemberFunction() {
			parts = append(parts, x.AsCall().Target())
		}
		return append(parts, x.AsCall().Args()...)
	case celast.ListKind:
		return x.AsList().Elements()
	case celast.MapKind:
		for _, e := range x.AsMap().Entries() {
			parts = append(parts, e.AsMapEntry().Key(), e.AsMapEntry().Value())
		}
	case celast.StructKind:
		for _, f := range x.AsStruct().Fields() {
			parts = append(parts, f.AsStructField().Value())
		}
	case celast.SelectKind:
		return []celast.Expr{x.AsSelect().Operand()}
	}
	return parts
}

// Size returns the number of nodes of an expression. An empty list or map
// counts as ten, and a node inside n nested macros as 1+n/4.
func Size(root celast.Expr) int { return size(root, 0) }

func size(x celast.Expr, macros int) int {
	n, parts := 1+macros/4, Parts(x)
	switch x.Kind() {
	case celast.ComprehensionKind:
		c := x.AsComprehension()
		n += size(c.IterRange(), macros)
		macros++
		parts = []celast.Expr{c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	case celast.ListKind, celast.MapKind:
		if len(parts) == 0 {
			n += emptyNodes - 1
		}
	}
	for _, part := range parts {
		n += size(part, macros)
	}
	return n
}

var doubling = lazyregexp.New(`\bopt(Flat)?Map\b`)

// Expands reports whether the macros optMap and optFlatMap might make the tree
// of a rule too large. Call it before parsing.
func Expands(rule string) bool {
	n := len(rule)
	for range doubling().FindAllStringIndex(rule, 20) {
		n *= 2
	}
	return n > maxExpanded
}
