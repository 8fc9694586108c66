package resolver

import (
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
)

// failure says, for the end of a clause, why a requirement is not met.
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
			return ", which " + w.name(b.Class, true) + " breaks"
		case b.Kind == proof.Excluded && len(against) == 1 && len(distinct(w.refs(b.Class))) == 1:
			return ", which only " + w.name(b.Class, true) + " could meet"
		}
	}
	return ", and nothing is left to meet it"
}

// common tells the one policy that stands against all that could meet a
// requirement; "" when there is no such thing.
func (w *narrator) common(against []*proof.Claim) string {
	var first *Ruled
	for _, c := range against {
		if c.Kind != proof.Excluded || c.Rule < 0 {
			return ""
		}
		q, ok := w.rules[c.Rule].Fact.(*Ruled)
		if !ok || first != nil && q.Policy != first.Policy {
			return ""
		}
		first = q
	}
	if first == nil {
		return ""
	}
	return ", and what could meet it is not allowed: " + first.says()
}

// sameExpr reports whether two constraints are equal, apart from their messages.
func sameExpr(a, b constraints.Expr) bool {
	return a != nil && b != nil && (a == b || a.String() == b.String())
}

// part says that nothing meets a part of a requirement.
func (w *narrator) part(n *proof.Formula) string {
	if w.leaves[n] == nil {
		return "there is nothing to choose from"
	}
	return "it includes " + says(w.leaves[n]) + w.e.r.u.nothing(w.leaves[n])
}

func requirement(q *Requires) string { return says(q.Requirement) }

// says names a requirement as a person would.
func says(x constraints.Expr) string {
	list := func(of []constraints.Expr) string {
		parts := make([]string, len(of))
		for i, x := range of {
			parts[i] = says(x)
		}
		return "(" + strings.Join(parts, "; ") + ")"
	}
	switch x := x.(type) {
	case *constraints.GVK:
		return "API " + x.GVK.String()
	case *constraints.CEL:
		return "what the rule " + strings.TrimPrefix(x.String(), "cel ") + " selects"
	case *constraints.All:
		if len(x.Of) == 1 {
			return says(x.Of[0])
		}
		return "all of " + list(x.Of)
	case *constraints.Any:
		if len(x.Of) == 1 {
			return says(x.Of[0])
		}
		return "one of " + list(x.Of)
	case *constraints.Not:
		if len(x.Of) == 1 && !compound(x.Of[0]) {
			return "no " + says(x.Of[0])
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
