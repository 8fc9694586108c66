package prose

import (
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// failure returns the end of a clause that explains why a requirement is not satisfied.
func (w *writing) failure(c *proof.Claim, r *Rule) string {
	for _, b := range c.Because {
		if b.Kind == proof.Unmet && b.Part == r.Need {
			return w.Nothing(w.Parts[b.Part])
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
		case b.Kind == proof.Excluded && len(against) == 1 && len(fact.Names(w.Classes[b.Class])) == 1:
			return ", which only " + w.name(b.Class, true) + " could satisfy"
		}
	}
	return ", and no remaining candidate satisfies it"
}

// common returns the end of a clause if one policy blocks every bundle that satisfies a
// requirement, else "".
func (w *writing) common(against []*proof.Claim) string {
	var first *fact.PolicyBlocked
	for _, c := range against {
		if c.Kind != proof.Excluded || c.Rule < 0 {
			return ""
		}
		q, ok := w.Rules[c.Rule].Facts[0].(*fact.PolicyBlocked)
		if !ok || first != nil && q.Policy != first.Policy {
			return ""
		}
		first = q
	}
	if first == nil {
		return ""
	}
	return ", but a policy blocks every bundle that satisfies it: " + first.Reason()
}

// part states that nothing satisfies a part of a requirement.
func (w *writing) part(n *proof.Formula) string {
	if w.Parts[n] == nil {
		return "there are no candidates"
	}
	return "it includes " + Requirement(w.Parts[n]) + w.Nothing(w.Parts[n])
}

// Requirement returns a requirement as a noun phrase.
func Requirement(x constraints.Expr) string {
	list := func(of []constraints.Expr) string {
		parts := make([]string, len(of))
		for i, x := range of {
			parts[i] = Requirement(x)
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
			return Requirement(x.Of[0])
		}
		return "all of " + list(x.Of)
	case *constraints.Any:
		if len(x.Of) == 1 {
			return Requirement(x.Of[0])
		}
		return "one of " + list(x.Of)
	case *constraints.Not:
		if len(x.Of) == 1 && len(constraints.Children(x.Of[0])) == 0 {
			return "no " + Requirement(x.Of[0])
		}
		return "none of " + list(x.Of)
	}
	return x.String()
}

// Messages returns the failureMessages of a tree (H9), in order.
func Messages(x constraints.Expr) []string {
	var out []string
	for part := range constraints.Walk(x) {
		if m := part.Message(); m != "" && !slices.Contains(out, m) {
			out = append(out, m)
		}
	}
	return out
}
