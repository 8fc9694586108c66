package constraints

import (
	"iter"
	"slices"
)

// Children returns the constraints that x combines, in the author's order, or
// nil for a leaf. The caller must not modify the slice.
func Children(x Expr) []Expr {
	switch x := x.(type) {
	case *All:
		return slices.Clip(x.Of)
	case *Any:
		return slices.Clip(x.Of)
	case *Not:
		return slices.Clip(x.Of)
	}
	return nil
}

// Walk returns x and all constraints below it in depth-first order, parents
// before children.
func Walk(x Expr) iter.Seq[Expr] {
	return func(yield func(Expr) bool) { walk(x, yield) }
}

func walk(x Expr, yield func(Expr) bool) bool {
	if !yield(x) {
		return false
	}
	for _, c := range Children(x) {
		if !walk(c, yield) {
			return false
		}
	}
	return true
}

// Equal reports whether a and b are the same tree: the same types in the same
// order, with the same messages, names, range texts and rules. Different texts
// of the same range are not equal.
func Equal(a, b Expr) bool {
	switch a := a.(type) {
	case *All:
		b, ok := b.(*All)
		return ok && a.FailureMessage == b.FailureMessage && slices.EqualFunc(a.Of, b.Of, Equal)
	case *Any:
		b, ok := b.(*Any)
		return ok && a.FailureMessage == b.FailureMessage && slices.EqualFunc(a.Of, b.Of, Equal)
	case *Not:
		b, ok := b.(*Not)
		return ok && a.FailureMessage == b.FailureMessage && slices.EqualFunc(a.Of, b.Of, Equal)
	case *GVK:
		b, ok := b.(*GVK)
		return ok && *a == *b
	case *Package:
		b, ok := b.(*Package)
		return ok && a.Name == b.Name && a.Range.text == b.Range.text && a.FailureMessage == b.FailureMessage
	case *Label:
		b, ok := b.(*Label)
		return ok && *a == *b
	case *CEL:
		b, ok := b.(*CEL)
		return ok && a.Rule == b.Rule && a.FailureMessage == b.FailureMessage
	}
	return a == nil && b == nil
}
