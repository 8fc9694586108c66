package resolver

import (
	"slices"

	"github.com/olmkit/olmkit/constraints"
)

// normal returns a constraint, or its negation, in normal form (D20): negations are only at
// leaves, an all contains no all, an any contains no any, and neither has only one part or
// repeats a part. Formulas that differ only in nesting, repetition and double negation have
// the same normal form. The parts keep the author's order.
func normal(x constraints.Expr, negated bool) constraints.Expr {
	switch x := x.(type) {
	case *constraints.All:
		return junction(x.Of, !negated, negated, x.FailureMessage)
	case *constraints.Any:
		return junction(x.Of, negated, negated, x.FailureMessage)
	case *constraints.Not:
		return junction(x.Of, !negated, !negated, x.FailureMessage)
	}
	if negated {
		return &constraints.Not{Of: []constraints.Expr{x}, FailureMessage: x.Message()}
	}
	return x
}

// junction returns all, or any, of the normal forms of some constraints, or of
// their negations.
func junction(of []constraints.Expr, all, negated bool, message string) constraints.Expr {
	var parts []constraints.Expr
	for _, x := range of {
		part := normal(x, negated)
		switch p := part.(type) {
		case *constraints.All:
			if all {
				parts = append(parts, p.Of...)
				continue
			}
		case *constraints.Any:
			if !all {
				parts = append(parts, p.Of...)
				continue
			}
		}
		parts = append(parts, part)
	}
	parts = unrepeated(parts)
	switch {
	case len(parts) == 1:
		return parts[0]
	case all:
		return &constraints.All{Of: parts, FailureMessage: message}
	}
	return &constraints.Any{Of: parts, FailureMessage: message}
}

// unrepeated returns the constraints without repetitions.
func unrepeated(list []constraints.Expr) []constraints.Expr {
	if len(list) < 2 {
		return list
	}
	known, seen := exprs{}, make(map[int]bool, len(list))
	return slices.DeleteFunc(list, func(x constraints.Expr) bool {
		n := known.number(x)
		repeated := seen[n]
		seen[n] = true
		return repeated
	})
}
