package resolver

import (
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
)

// failure returns the end of a clause: why a requirement is not satisfied.
func (w *narrator) failure(c *proof.Claim, q *Requires) string {
	for _, b := range c.Because {
		if b.Kind == proof.Unmet && sameExpr(w.leaves[b.Part], q.Requirement) {
			return w.e.r.u.nothing(q.Requirement)
		}
	}
	against := c.Because
	if c.Kind == proof.Contradiction {
		against = against[1:] // the owner itself
	}
	if text := w.common(against); text != "" {
		return text
	}
	for _, b := range against {
		switch {
		case b.Kind == proof.Chosen || b.Kind == proof.Supposed:
			return ", which " + w.name(b.Class, true) + " violates"
		case b.Kind == proof.Excluded && len(against) == 1 && len(distinct(w.refs(b.Class))) == 1:
			return ", which only " + w.name(b.Class, true) + " could satisfy"
		}
	}
	return ", and no remaining candidate satisfies it"
}

// common returns the end of a clause if one policy blocks every bundle that satisfies a
// requirement, else "".
func (w *narrator) common(against []*proof.Claim) string {
	var first *PolicyBlocked
	for _, c := range against {
		if c.Kind != proof.Excluded || c.Rule < 0 {
			return ""
		}
		q, ok := w.rules[c.Rule].Fact.(*PolicyBlocked)
		if !ok || first != nil && q.Policy != first.Policy {
			return ""
		}
		first = q
	}
	if first == nil {
		return ""
	}
	return ", but a policy blocks every bundle that satisfies it: " + first.sentence()
}

// sameExpr reports whether two constraints are equal, ignoring their messages.
func sameExpr(a, b constraints.Expr) bool {
	return a != nil && b != nil && (a == b || a.String() == b.String())
}

// part states that nothing satisfies a part of a requirement.
func (w *narrator) part(n *proof.Formula) string {
	if w.leaves[n] == nil {
		return "there are no candidates"
	}
	return "it includes " + phrase(w.leaves[n]) + w.e.r.u.nothing(w.leaves[n])
}

func requirement(q *Requires) string { return phrase(q.Requirement) }

// phrase returns a requirement as a noun phrase.
func phrase(x constraints.Expr) string {
	list := func(of []constraints.Expr) string {
		parts := make([]string, len(of))
		for i, x := range of {
			parts[i] = phrase(x)
		}
		return "(" + strings.Join(parts, "; ") + ")"
	}
	switch x := x.(type) {
	case *constraints.GVK:
		return "API " + x.GVK.String()
	case *constraints.CEL:
		return "CEL rule " + strings.TrimPrefix(x.String(), "cel ")
	case *constraints.All:
		if len(x.Of) == 1 {
			return phrase(x.Of[0])
		}
		return "all of " + list(x.Of)
	case *constraints.Any:
		if len(x.Of) == 1 {
			return phrase(x.Of[0])
		}
		return "one of " + list(x.Of)
	case *constraints.Not:
		if len(x.Of) == 1 && !compound(x.Of[0]) {
			return "no " + phrase(x.Of[0])
		}
		return "none of " + list(x.Of)
	}
	return x.String()
}

// messages returns the failureMessages of a tree, in order.
func messages(x constraints.Expr) []string {
	var out []string
	for part := range constraints.Walk(x) {
		if m := part.Message(); m != "" && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
