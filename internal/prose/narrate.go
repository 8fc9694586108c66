package prose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A writing turns the claims of one proof into steps.
type writing struct {
	*Narrator
	*Core
	names map[nameKey]string
	// classLikes numbers classes by their members.
	classLikes map[int]int
	// buffer is memory for likenesses.
	buffer []byte
}

type nameKey struct {
	class  int
	either bool
}

func (w *writing) steps(claims []*proof.Claim) []*step {
	var out []*step
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

// name returns the name of a class for use in a sentence.
func (w *writing) name(class int, either bool) string {
	key := nameKey{class, either}
	text, ok := w.names[key]
	if !ok {
		text = w.group(w.Classes[class], either && class != w.Supposed)
		w.names[key] = text
	}
	return text
}

// step turns one claim into a step.
func (w *writing) step(c *proof.Claim) *step {
	s := &step{}
	switch {
	case c.Kind == proof.Unmet:
		s.Code, s.Text = unmetPart, w.part(c.Part)
	case c.Rule == proof.Counting:
		w.crowded(s, c)
	case c.Rule == proof.Preference:
		s.Code, s.Bundles = preferred, slices.Clone(w.Classes[c.Class])
		s.one, s.many = "was already chosen for an earlier request", "were already chosen for an earlier request"
		s.finish(w.name(c.Class, false))
	case c.Rule == proof.Supposition:
		s.Code, s.Bundles = supposed, slices.Clone(w.Classes[c.Class])
		s.one, s.many = "would not help", "would not help"
		s.because = w.steps(c.Because)
		s.finish(w.name(c.Class, false))
	default:
		w.apply(s, c)
	}
	s.Likeness = w.likeness(s, c)
	return s
}

// apply completes the step for a claim that applies a rule.
func (w *writing) apply(s *step, c *proof.Claim) {
	r := &w.Rules[c.Rule]
	s.Fact, s.Code = r.Facts[0], r.Facts[0].Code()
	w.cite(s, r)
	switch c.Kind {
	case proof.Chosen:
		s.Bundles = slices.Clone(w.Classes[c.Class])
		_, stays := r.Facts[0].(*fact.MustStay)
		s.either = !stays
		w.chosen(s, c, r)
	case proof.Excluded:
		s.Bundles = slices.Clone(w.Classes[c.Class])
		w.excluded(s, c, r)
	default:
		w.contradiction(s, c, r)
	}
	s.because = w.steps(w.unsaid(c, r))
	if s.one != "" {
		subject := ""
		if c.Kind == proof.Contradiction {
			subject = w.group(s.Bundles, s.either)
		} else {
			subject = w.name(c.Class, s.either)
		}
		s.finish(subject)
	}
	if c.Kind == proof.Contradiction {
		w.fold(s)
		w.lead(s, c, r)
	}
}

// unsaid returns the reasons of c that the sentence about c does not state.
func (w *writing) unsaid(c *proof.Claim, r *Rule) []*proof.Claim {
	if _, ok := r.Facts[0].(*fact.Requires); !ok || len(c.Because) == 0 {
		return c.Because
	}
	// The sentence already states that nothing satisfies the whole requirement.
	return slices.DeleteFunc(slices.Clone(c.Because), func(b *proof.Claim) bool {
		return b.Kind == proof.Unmet && b.Part == r.Need
	})
}

// cite adds the positions in the catalog and the authors' messages.
func (w *writing) cite(s *step, r *Rule) {
	for _, f := range r.Facts {
		var at *fact.Place
		var said []string
		switch f := f.(type) {
		case *fact.Requires:
			at, said = f.Place(), Messages(f.Requirement)
		case *fact.Prohibited:
			at = fact.PlaceOf(f.Bundle, f.Pos)
			if f.Message != "" {
				said = []string{f.Message}
			}
		case *fact.Unusable:
			at = fact.PlaceOf(f.Bundle, f.Pos)
		case *fact.InstallMode:
			at = fact.PlaceOf(f.Bundle, f.Pos)
		}
		if at != nil {
			s.Places = append(s.Places, *at)
		}
		s.Messages = union(s.Messages, said)
	}
}

func (w *writing) chosen(s *step, c *proof.Claim, r *Rule) {
	switch q := r.Facts[0].(type) {
	case *fact.MustStay:
		if q.Held != "" {
			s.one, s.many = "must stay as it is: "+q.Held, "must stay as they are"
			break
		}
		s.one = "is an orphan: no subscription has it as installedCSV, so it must stay as it is"
		s.many = "are orphans: no subscription has them as installedCSV, so they must stay as they are"
	case *fact.Subscribed:
		s.one = w.asks(q, s.Bundles, len(c.Because) > 0)
		s.many = s.one
	case *fact.Requires:
		s.one = onlyChoice(q, w.name(r.Owner, true))
		s.many = s.one
	}
}

// onlyChoice returns the predicate for the only bundles that satisfy a requirement.
func onlyChoice(q *fact.Requires, owner string) string {
	return "must be chosen: no other bundle satisfies " + Requirement(q.Requirement) + ", required by " + owner
}

func (w *writing) excluded(s *step, c *proof.Claim, r *Rule) {
	other, several := "the others", false
	for _, b := range c.Because {
		if b.Kind == proof.Chosen || b.Kind == proof.Supposed {
			other = w.name(b.Class, true)
			several = b.Kind == proof.Chosen && len(w.Classes[b.Class]) > 1
		}
	}
	switch q := r.Facts[0].(type) {
	case *fact.OnePerPackage:
		s.one = fmt.Sprintf("conflicts with %s: a namespace can hold only one version of package %s", other, q.Package)
		s.many = fmt.Sprintf("conflict with %s: a namespace can hold only one version of package %s", other, q.Package)
	case *fact.OneProvider:
		s.many = fmt.Sprintf("conflict with %s: all provide %s", other, q.API)
		if s.one = fmt.Sprintf("conflicts with %s: all provide %s", other, q.API); !several {
			s.one = fmt.Sprintf("conflicts with %s: both provide %s", other, q.API)
		}
	case *fact.Replaced:
		s.one = fmt.Sprintf("conflicts with %s: one replaces the other", other)
		s.many = fmt.Sprintf("conflict with %s: one replaces the other", other)
	case *fact.Prohibited:
		s.one = "is deprecated: its property olm.deprecated excludes it"
		s.many = "are deprecated: their property olm.deprecated excludes them"
	case *fact.Unusable:
		s.one = unusable(q)
		s.many = s.one
	case *fact.PolicyBlocked:
		s.one = "is blocked by a policy: " + q.Reason()
		s.many = "are blocked by a policy: " + q.Reason()
	case *fact.InstallMode:
		s.one = "cannot run in this namespace: " + q.Err.Error()
		s.many = s.one
	case *fact.Requires:
		if c.Class != r.Owner {
			s.one = fmt.Sprintf("is ruled out by %s, which requires %s", w.name(r.Owner, false), Requirement(q.Requirement))
			s.many = fmt.Sprintf("are ruled out by %s, which requires %s", w.name(r.Owner, false), Requirement(q.Requirement))
			return
		}
		tail := w.failure(c, r)
		s.one, s.many = "requires "+Requirement(q.Requirement)+tail, "require "+Requirement(q.Requirement)+tail
	}
}

func (w *writing) contradiction(s *step, c *proof.Claim, r *Rule) {
	switch q := r.Facts[0].(type) {
	case *fact.Unavailable:
		s.Text = w.unavailable(q)
	case *fact.Subscribed:
		s.Text = w.unmet(q)
	case *fact.Requires:
		s.Bundles = slices.Clone(w.Classes[r.Owner])
		tail := w.failure(c, r)
		s.one, s.many = "requires "+Requirement(q.Requirement)+tail, "require "+Requirement(q.Requirement)+tail
	case *fact.OnePerPackage:
		s.Text = fmt.Sprintf("%s cannot both be installed: a namespace can hold only one version of package %s", w.both(c), q.Package)
	case *fact.OneProvider:
		s.Text = fmt.Sprintf("%s cannot both be installed: both provide %s", w.both(c), q.API)
	case *fact.Replaced:
		s.Text = fmt.Sprintf("%s cannot both be installed: one replaces the other", w.both(c))
	default:
		// Something must stay or be chosen, but cannot.
		for _, b := range c.Because {
			if b.Kind != proof.Contradiction && b.Kind != proof.Unmet {
				s.Bundles = slices.Clone(w.Classes[b.Class])
			}
		}
		if q, ok := r.Facts[0].(*fact.MustStay); ok {
			s.Bundles = []fact.Ref{q.Operator}
		}
		s.one, s.many = "is required but cannot be chosen", "are required but cannot be chosen"
		made := &step{}
		if x := (&proof.Claim{Kind: proof.Excluded, Class: max(r.Owner, 0)}); r.Owner != proof.NoClass {
			w.excluded(made, x, r)
		}
		if made.one != "" {
			s.one, s.many = made.one, made.many
		} else if q, ok := r.Facts[0].(*fact.MustStay); ok && q.Held != "" {
			s.one = "must stay as it is, but it cannot: " + q.Held
			s.many = s.one
		} else if ok {
			s.one = "is an orphan: no subscription has it as installedCSV, so it must stay as it is, but it cannot"
			s.many = s.one
		}
	}
}

// both names the two sides of a contradiction.
func (w *writing) both(c *proof.Claim) string {
	var names []string
	for _, b := range c.Because {
		if b.Kind != proof.Contradiction && b.Kind != proof.Unmet {
			names = append(names, w.name(b.Class, true))
		}
	}
	return strings.Join(names, " and ")
}
