package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/proof"
)

// A narrator turns the claims of a proof into steps.
type narrator struct {
	*quotient
	names map[nameKey]string
	// buffer is memory for likenesses.
	buffer []byte
}

type nameKey struct {
	class  int
	either bool
}

// maxDerivation is the largest number of steps in a derivation. A proof shares its claims,
// so a derivation, which repeats them, can be far longer.
const maxDerivation = 400

// narrate turns a proof into steps. It returns nil if there are too many to read.
func (q *quotient) narrate(end *proof.Claim) *Step {
	if end == nil || end.Steps(maxDerivation) > maxDerivation {
		return nil
	}
	w := narrator{quotient: q, names: map[nameKey]string{}}
	return w.step(end)
}

func (w *narrator) steps(claims []*proof.Claim) []*Step {
	var out []*Step
	seen := map[*proof.Claim]bool{}
	for _, c := range claims {
		if c.Kind == proof.Supposed || seen[c] {
			continue
		}
		seen[c] = true
		out = append(out, w.step(c))
	}
	return w.merge(out)
}

func (w *narrator) refs(class int) []Ref { return w.e.r.u.refs(w.classes[class]) }

// name returns the name of a class for use in a sentence.
func (w *narrator) name(class int, either bool) string {
	key := nameKey{class, either}
	text, ok := w.names[key]
	if !ok {
		text = w.e.r.u.group(w.refs(class), either)
		w.names[key] = text
	}
	return text
}

// step turns one claim into a step.
func (w *narrator) step(c *proof.Claim) *Step {
	s := &Step{}
	switch {
	case c.Kind == proof.Unmet:
		s.Code, s.Text = CodeUnmetPart, w.part(c.Part)
	case c.Rule == proof.Counting:
		w.crowded(s, c)
	case c.Rule == proof.Preference:
		s.Code, s.Bundles = CodePreferred, w.refs(c.Class)
		s.one, s.many = "was already chosen by a higher-priority request", "were already chosen by a higher-priority request"
		w.finish(s, w.name(c.Class, false))
	case c.Rule == proof.Supposition:
		s.Code, s.Bundles = CodeSupposed, w.refs(c.Class)
		s.one, s.many = "would not help", "would not help"
		s.Because = w.steps(c.Because)
		w.finish(s, w.name(c.Class, false))
	default:
		w.apply(s, c)
	}
	s.like = w.likenessOf(s, c)
	return s
}

// apply completes the step for a claim that applies a rule.
func (w *narrator) apply(s *Step, c *proof.Claim) {
	r := &w.rules[c.Rule]
	s.Fact, s.Code = r.Fact, r.Code()
	w.cite(s, r, c)
	switch c.Kind {
	case proof.Chosen:
		s.Bundles = w.refs(c.Class)
		s.either = r.Code() != (*MustStay)(nil).Code()
		w.chosen(s, c, r)
	case proof.Excluded:
		s.Bundles = w.refs(c.Class)
		w.excluded(s, c, r)
	default:
		w.contradiction(s, c, r)
	}
	s.Because = w.steps(w.unsaid(c, r))
	if s.one != "" {
		subject := ""
		if c.Kind == proof.Contradiction {
			subject = w.e.r.u.group(s.Bundles, s.either)
		} else {
			subject = w.name(c.Class, s.either)
		}
		w.finish(s, subject)
	}
	if c.Kind == proof.Contradiction {
		w.fold(s)
		w.lead(s, c, r)
	}
}

// unsaid returns the claims behind c that its sentence does not state.
func (w *narrator) unsaid(c *proof.Claim, r *rule) []*proof.Claim {
	q, ok := r.Fact.(*Requires)
	if !ok || len(c.Because) == 0 {
		return c.Because
	}
	// The sentence itself states that nothing satisfies the whole requirement.
	return slices.DeleteFunc(slices.Clone(c.Because), func(b *proof.Claim) bool {
		return b.Kind == proof.Unmet && sameExpr(w.leaves[b.Part], q.Requirement)
	})
}

// cite adds the places and the authors' messages.
func (w *narrator) cite(s *Step, r *rule, c *proof.Claim) {
	u := w.e.r.u
	for _, i := range r.facts {
		switch f := w.e.facts[i].Fact.(type) {
		case *Requires:
			if p := f.place(); p != nil {
				s.Places = append(s.Places, *p)
			}
			for _, m := range messages(f.Requirement) {
				if !slices.Contains(s.Messages, m) {
					s.Messages = append(s.Messages, m)
				}
			}
		case *Prohibited:
			if !f.Bundle.Installed() {
				s.Places = append(s.Places, Place{f.Bundle.Catalog, f.Pos.File, f.Pos.Line, -1})
				_, b := u.entry(w.e.facts[i].owner)
				if m, ok := b.Deprecation(); ok && !slices.Contains(s.Messages, m) {
					s.Messages = append(s.Messages, m)
				}
			}
		case *Unusable:
			if !f.Bundle.Installed() {
				s.Places = append(s.Places, Place{f.Bundle.Catalog, f.Pos.File, f.Pos.Line, -1})
			}
		case *InstallMode:
			if !f.Bundle.Installed() {
				s.Places = append(s.Places, Place{f.Bundle.Catalog, f.Pos.File, f.Pos.Line, -1})
			}
		}
	}
}

func (w *narrator) chosen(s *Step, c *proof.Claim, r *rule) {
	switch q := r.Fact.(type) {
	case *MustStay:
		s.one = "is an orphan: it is installed without a subscription and must stay as it is"
		s.many = "are orphans: they are installed without a subscription and must stay as they are"
	case *Subscribed:
		s.one = w.asks(q, s.Bundles, len(c.Because) > 0)
		s.many = s.one
	case *Requires:
		s.one = onlyChoice(q, w.name(r.Owner, true))
		s.many = s.one
	}
}

// onlyChoice returns the predicate for the only bundles that satisfy a requirement.
func onlyChoice(q *Requires, owner string) string {
	return "must be chosen: no other bundle satisfies " + requirement(q) + ", required by " + owner
}

func (w *narrator) excluded(s *Step, c *proof.Claim, r *rule) {
	other, several := "the others", false
	for _, b := range c.Because {
		if b.Kind == proof.Chosen || b.Kind == proof.Supposed {
			other = w.name(b.Class, true)
			several = b.Kind == proof.Chosen && len(w.classes[b.Class]) > 1
		}
	}
	switch q := r.Fact.(type) {
	case *OnePerPackage:
		s.one = fmt.Sprintf("conflicts with %s: a namespace can hold only one version of package %s", other, q.Package)
		s.many = fmt.Sprintf("conflict with %s: a namespace can hold only one version of package %s", other, q.Package)
	case *OneProvider:
		s.many = fmt.Sprintf("conflict with %s: all provide %s", other, q.API)
		if s.one = fmt.Sprintf("conflicts with %s: all provide %s", other, q.API); !several {
			s.one = fmt.Sprintf("conflicts with %s: both provide %s", other, q.API)
		}
	case *Replaced:
		s.one = fmt.Sprintf("conflicts with %s: one replaces the other", other)
		s.many = fmt.Sprintf("conflict with %s: one replaces the other", other)
	case *Prohibited:
		s.one = "is deprecated: its property olm.deprecated excludes it"
		s.many = "are deprecated: their property olm.deprecated excludes them"
	case *Unusable:
		s.one = q.predicate()
		s.many = s.one
	case *PolicyBlocked:
		s.one = "is blocked by a policy: " + q.sentence()
		s.many = "are blocked by a policy: " + q.sentence()
	case *InstallMode:
		s.one = "cannot run in this namespace: " + q.Err.Error()
		s.many = s.one
	case *Requires:
		if c.Class != r.Owner {
			s.one = fmt.Sprintf("is ruled out by %s, which requires %s", w.name(r.Owner, false), requirement(q))
			s.many = fmt.Sprintf("are ruled out by %s, which requires %s", w.name(r.Owner, false), requirement(q))
			return
		}
		tail := w.failure(c, q)
		s.one, s.many = "requires "+requirement(q)+tail, "require "+requirement(q)+tail
	}
}

func (w *narrator) contradiction(s *Step, c *proof.Claim, r *rule) {
	switch q := r.Fact.(type) {
	case *Unavailable:
		s.Text = w.e.r.u.unavailable(q)
	case *Subscribed:
		s.Text = w.unmet(q)
	case *Requires:
		s.Bundles = w.refs(r.Owner)
		tail := w.failure(c, q)
		s.one, s.many = "requires "+requirement(q)+tail, "require "+requirement(q)+tail
	case *OnePerPackage:
		s.Text = fmt.Sprintf("%s cannot both be installed: a namespace can hold only one version of package %s", w.both(c), q.Package)
	case *OneProvider:
		s.Text = fmt.Sprintf("%s cannot both be installed: both provide %s", w.both(c), q.API)
	case *Replaced:
		s.Text = fmt.Sprintf("%s cannot both be installed: one replaces the other", w.both(c))
	default:
		// Something that must stay, or must be chosen, cannot.
		for _, b := range c.Because {
			if b.Kind != proof.Contradiction && b.Kind != proof.Unmet {
				s.Bundles = w.refs(b.Class)
			}
		}
		if q, ok := r.Fact.(*MustStay); ok {
			s.Bundles = []Ref{q.Operator}
		}
		s.one, s.many = "is required but cannot be chosen", "are required but cannot be chosen"
		made := &Step{}
		if x := (&proof.Claim{Kind: proof.Excluded, Class: max(r.Owner, 0)}); r.Owner != proof.NoClass {
			w.excluded(made, x, r)
		}
		if made.one != "" {
			s.one, s.many = made.one, made.many
		} else if _, ok := r.Fact.(*MustStay); ok {
			s.one = "is an orphan: it is installed without a subscription and must stay as it is, but it cannot"
			s.many = s.one
		}
	}
}

// both names the two sides of a contradiction.
func (w *narrator) both(c *proof.Claim) string {
	var names []string
	for _, b := range c.Because {
		if b.Kind != proof.Contradiction && b.Kind != proof.Unmet {
			names = append(names, w.name(b.Class, true))
		}
	}
	return strings.Join(names, " and ")
}
