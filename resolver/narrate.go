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
}

type nameKey struct {
	class  int
	either bool
}

// maxTold is how many steps a derivation may have, written out. A proof uses its
// claims again and again; what it says in full can be far longer than itself.
const maxTold = 400

// narrate turns a proof into steps; nil when it is longer than anybody would read.
func (q *quotient) narrate(end *proof.Claim) *Step {
	if end == nil || end.Steps(maxTold) > maxTold {
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

// name names a class within a sentence.
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
		s.one, s.many = "was chosen before, as what is asked for first prefers", "were chosen before, as what is asked for first prefers"
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

// apply completes the step of a claim that a rule makes.
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

// unsaid returns the claims behind c that are not part of its sentence.
func (w *narrator) unsaid(c *proof.Claim, r *rule) []*proof.Claim {
	q, ok := r.Fact.(*Requires)
	if !ok || len(c.Because) == 0 {
		return c.Because
	}
	// That nothing meets the whole of a requirement is part of the sentence.
	return slices.DeleteFunc(slices.Clone(c.Because), func(b *proof.Claim) bool {
		return b.Kind == proof.Unmet && sameExpr(w.leaves[b.Part], q.Requirement)
	})
}

// cite adds the places and the author's words.
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
		s.one, s.many = meets(q, w.name(r.Owner, true))
	}
}

// meets returns that some bundles are all that can meet a requirement, for one of
// them and for several.
func meets(q *Requires, owner string) (one, many string) {
	text := " all that can meet " + requirement(q) + ", which " + owner + " requires"
	return "is" + text, "are" + text
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
		s.one = fmt.Sprintf("conflicts with %s: a namespace holds one version of package %s", other, q.Package)
		s.many = fmt.Sprintf("conflict with %s: a namespace holds one version of package %s", other, q.Package)
	case *OneProvider:
		s.many = fmt.Sprintf("conflict with %s: all provide %s", other, q.API)
		if s.one = fmt.Sprintf("conflicts with %s: all provide %s", other, q.API); !several {
			s.one = fmt.Sprintf("conflicts with %s: both provide %s", other, q.API)
		}
	case *Replaced:
		s.one = fmt.Sprintf("conflicts with %s: one takes the place of the other", other)
		s.many = fmt.Sprintf("conflict with %s: one takes the place of the other", other)
	case *Prohibited:
		s.one = "is deprecated: its property olm.deprecated forbids choosing it"
		s.many = "are deprecated: their property olm.deprecated forbids choosing them"
	case *Unusable:
		s.one = q.says()
		s.many = s.one
	case *Ruled:
		s.one = "is not allowed: " + q.says()
		s.many = "are not allowed: " + q.says()
	case *InstallMode:
		s.one = "cannot run here: " + q.Err.Error()
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
		s.Text = fmt.Sprintf("%s cannot both be installed: a namespace holds one version of package %s", w.both(c), q.Package)
	case *OneProvider:
		s.Text = fmt.Sprintf("%s cannot both be installed: both provide %s", w.both(c), q.API)
	case *Replaced:
		s.Text = fmt.Sprintf("%s cannot both be installed: one takes the place of the other", w.both(c))
	default:
		// What must stay, or must be chosen, cannot be.
		for _, b := range c.Because {
			if b.Kind != proof.Contradiction && b.Kind != proof.Unmet {
				s.Bundles = w.refs(b.Class)
			}
		}
		if q, ok := r.Fact.(*MustStay); ok {
			s.Bundles = []Ref{q.Operator}
		}
		s.one, s.many = "is needed, and cannot be chosen", "are needed, and cannot be chosen"
		made := &Step{}
		if x := (&proof.Claim{Kind: proof.Excluded, Class: max(r.Owner, 0)}); r.Owner != proof.NoClass {
			w.excluded(made, x, r)
		}
		if made.one != "" {
			s.one, s.many = made.one, made.many
		} else if _, ok := r.Fact.(*MustStay); ok {
			s.one = "is an orphan: it is installed without a subscription and must stay as it is; but it cannot"
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
