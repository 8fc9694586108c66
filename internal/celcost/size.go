package celcost

import (
	"regexp"

	celast "github.com/google/cel-go/common/ast"
)

// The time that CEL's checker takes grows with the square of the empty lists and
// maps, whose types are open, and with the third power of the macros in each
// other. So these count for more than one node. It copies what optMap is called on,
// so that the tree doubles with each call, before anybody can count its nodes.

const (
	emptyNodes  = 10 // an empty list or map
	maxExpanded = 1 << 20
)

// Size counts the nodes of an expression: an empty list or map as ten, and what is
// in n macros once more for each four of them.
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

var doubling = regexp.MustCompile(`\bopt(Flat)?Map\b`)

// Expands reports whether the macros optMap and optFlatMap could make too large a
// tree of a rule: it is asked before the rule is parsed.
func Expands(rule string) bool {
	n := len(rule)
	for range doubling.FindAllStringIndex(rule, 20) {
		n *= 2
	}
	return n > maxExpanded
}
