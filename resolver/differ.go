package resolver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
)

// A Difference names a rule on which the running OLM differs, or may differ, from olmkit: it
// would refuse the namespace or choose something else.
type Difference struct {
	// Rule is the id of the rule, such as "H26".
	Rule string `json:"rule"`
	// Subscription is the name of the subscription that the rule concerns, or "".
	Subscription string `json:"subscription,omitempty"`
	// Bundle is the bundle or installed operator that the rule concerns, or nil.
	Bundle *Ref `json:"bundle,omitzero"`
	// Text states what OLM does, and how to avoid the difference.
	Text string `json:"text"`
}

// String returns the text with the rule.
func (d Difference) String() string { return fmt.Sprintf("%s (%s)", d.Text, d.Rule) }

// differences returns the rules in which OLM differs: those about subscriptions, then those
// about the chosen set, in order.
func (r *resolution) differences(set []cand) (out []Difference) {
	u := r.u
	for i, s := range u.subs {
		if r.options[i] == nil {
			continue
		}
		if names := u.joined(s); len(names) > 1 {
			out = append(out, Difference{Rule: "H28", Subscription: s.Name,
				Text: fmt.Sprintf("subscription %s does not name a catalog: OLM combines the channels of %s, which usually fails; name a catalog", s.Name, strings.Join(names, " and "))})
		}
	}
	if u.semantics() == PerBundle {
		return out
	}
	var has map[cand]bool // made on demand, because most sets have no constraints
	chosen := func(c cand) bool {
		if has == nil {
			has = make(map[cand]bool, len(set))
			for _, c := range set {
				has[c] = true
			}
		}
		return has[c]
	}
	for _, c := range set {
		if err := u.repeats(c); err != nil {
			ref := u.ref(c)
			out = append(out, Difference{Rule: "H26", Bundle: &ref, Text: fmt.Sprintf("OLM refuses %s, which conflicts with itself: %s; remove the duplicate declaration", ref.Name, err)})
		}
		for q := range u.requirements(c) {
			if compound(q.Expr) && indexed(q.Expr) && !evaluated(q.Expr) && !u.waives(c, q.Expr) && len(u.among(context.Background(), q.Expr, set, chosen)) == 0 {
				ref := u.ref(c)
				out = append(out, Difference{Rule: "D6", Bundle: &ref, Text: fmt.Sprintf("OLM refuses %s because no single bundle satisfies its constraint %s", ref.Name, prose.Requirement(q.Expr))})
			}
		}
	}
	return out
}

// unreadDifference returns that OLM fails the namespace because of bundles that cannot be read (H7).
func unreadDifference(names []string) Difference {
	verb := "is"
	if len(names) > 1 {
		verb = "are"
	}
	return Difference{Rule: "H7", Text: fmt.Sprintf("OLM resolves nothing in the namespace until %s, which cannot be read, %s corrected", phrase.Few(names), verb)}
}

// joined returns the catalogs whose channels OLM would combine for a subscription without
// a catalog (H28).
func (u *universe) joined(s *subscription) (names []string) {
	if s.Source() != (CatalogID{}) || len(u.cats) < 2 {
		return nil
	}
	in, _ := u.sourcesFor(s)
	for _, c := range in {
		if len(u.channels(s, c)) > 0 {
			names = append(names, c.ID().String())
		}
	}
	return names
}

// evaluated reports whether a constraint contains a CEL rule, which is expensive.
func evaluated(x constraints.Expr) bool {
	switch x := x.(type) {
	case *constraints.All:
		return slices.ContainsFunc(x.Of, evaluated)
	case *constraints.Any:
		return slices.ContainsFunc(x.Of, evaluated)
	case *constraints.Not:
		return slices.ContainsFunc(x.Of, evaluated)
	case *constraints.CEL:
		return true
	}
	return false
}
