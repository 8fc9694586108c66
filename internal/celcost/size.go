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

// Size returns the number of nodes of an expression. An empty list or map
// counts as ten, and a node inside n nested macros as 1+n/4.
func Size(root celast.Expr) int { return size(root, 0) }

func size(x celast.Expr, macros int) int {
	n := 1 + macros/4
	each := func(list ...celast.Expr) {
		for _, e := range list {
			n += size(e, macros)
		}
	}
	switch x.Kind() {
	case celast.ComprehensionKind:
		c := x.AsComprehension()
		each(c.IterRange())
		macros++
		each(c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result())
	case celast.CallKind:
		if x.AsCall().IsMemberFunction() {
			each(x.AsCall().Target())
		}
		each(x.AsCall().Args()...)
	case celast.ListKind:
		if x.AsList().Size() == 0 {
			n += emptyNodes - 1
		}
		each(x.AsList().Elements()...)
	case celast.MapKind:
		if x.AsMap().Size() == 0 {
			n += emptyNodes - 1
		}
		for _, e := range x.AsMap().Entries() {
			each(e.AsMapEntry().Key(), e.AsMapEntry().Value())
		}
	case celast.StructKind:
		for _, f := range x.AsStruct().Fields() {
			each(f.AsStructField().Value())
		}
	case celast.SelectKind:
		each(x.AsSelect().Operand())
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
