package resolver

import (
	"fmt"
	"slices"
	"strings"
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

// size returns how many steps a claim is, written out, up to a little more than
// maxTold.
func (c *claim) size(known map[*claim]int) int {
	if n, ok := known[c]; ok {
		return n
	}
	n := 1
	for _, b := range c.because {
		if b.kind != supposed {
			n = min(n+b.size(known), maxTold+1)
		}
	}
	known[c] = n
	return n
}

// tell turns a proof into steps; nil when it is longer than anybody would read.
func (q *quotient) tell(end *claim) *Step {
	if end == nil || end.size(map[*claim]int{}) > maxTold {
		return nil
	}
	w := narrator{quotient: q, names: map[nameKey]string{}}
	return w.step(end)
}

func (w *narrator) steps(claims []*claim) []*Step {
	var out []*Step
	seen := map[*claim]bool{}
	for _, c := range claims {
		if c.kind == supposed || seen[c] {
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

// step tells one claim.
func (w *narrator) step(c *claim) *Step {
	s := &Step{}
	switch {
	case c.kind == unmet:
		s.Code, s.Text = CodeUnmetPart, w.part(c.part)
		return s
	case c.rule == crowded:
		w.crowded(s, c)
		return s
	case c.rule == preference:
		s.Code, s.Bundles = CodePreferred, w.refs(c.class)
		s.one, s.many = "was chosen before, as what is asked for first prefers", "were chosen before, as what is asked for first prefers"
		w.finish(s, w.name(c.class, false))
		return s
	case c.rule == supposition:
		s.Code, s.Bundles = CodeSupposed, w.refs(c.class)
		s.one, s.many = "would not help", "would not help"
		s.Because = w.steps(c.because)
		w.finish(s, w.name(c.class, false))
		return s
	}
	r := &w.rules[c.rule]
	s.Fact, s.Code = r.Fact, r.Code()
	w.cite(s, r, c)
	switch c.kind {
	case chosen:
		s.Bundles = w.refs(c.class)
		s.either = r.Code() != (*MustStay)(nil).Code()
		w.chosen(s, c, r)
	case excluded:
		s.Bundles = w.refs(c.class)
		w.excluded(s, c, r)
	default:
		w.contradiction(s, c, r)
	}
	s.Because = w.steps(w.unsaid(c, r))
	if s.one != "" {
		subject := ""
		if c.kind == contradiction {
			subject = w.e.r.u.group(s.Bundles, s.either)
		} else {
			subject = w.name(c.class, s.either)
		}
		w.finish(s, subject)
	}
	if c.kind == contradiction {
		w.fold(s)
		w.lead(s, c, r)
	}
	return s
}

// unsaid returns the claims behind c that its sentence does not tell itself.
func (w *narrator) unsaid(c *claim, r *rule) []*claim {
	q, ok := r.Fact.(*Requires)
	if !ok || len(c.because) == 0 {
		return c.because
	}
	// That nothing meets the whole of a requirement is part of the sentence.
	return slices.DeleteFunc(slices.Clone(c.because), func(b *claim) bool {
		return b.kind == unmet && sameExpr(b.part.expr, q.Requirement)
	})
}

// cite adds the places and the author's words.
func (w *narrator) cite(s *Step, r *rule, c *claim) {
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

func (w *narrator) chosen(s *Step, c *claim, r *rule) {
	switch q := r.Fact.(type) {
	case *MustStay:
		s.one = "is an orphan: it is installed without a subscription and must stay as it is"
		s.many = "are orphans: they are installed without a subscription and must stay as they are"
	case *Subscribed:
		s.one = w.asks(q, s.Bundles, len(c.because) > 0)
		s.many = s.one
	case *Requires:
		s.one, s.many = meets(q, w.name(r.owner, true))
	}
}

// meets tells that some bundles are all that can meet a requirement, for one of
// them and for several.
func meets(q *Requires, owner string) (one, many string) {
	text := " all that can meet " + requirement(q) + ", which " + owner + " requires"
	return "is" + text, "are" + text
}

func (w *narrator) excluded(s *Step, c *claim, r *rule) {
	other, several := "the others", false
	for _, b := range c.because {
		if b.kind == chosen || b.kind == supposed {
			other = w.name(b.class, true)
			several = b.kind == chosen && len(w.classes[b.class]) > 1
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
		if c.class != r.owner {
			s.one = fmt.Sprintf("is ruled out by %s, which requires %s", w.name(r.owner, false), requirement(q))
			s.many = fmt.Sprintf("are ruled out by %s, which requires %s", w.name(r.owner, false), requirement(q))
			return
		}
		tail := w.failure(c, q)
		s.one, s.many = "requires "+requirement(q)+tail, "require "+requirement(q)+tail
	}
}

func (w *narrator) contradiction(s *Step, c *claim, r *rule) {
	switch q := r.Fact.(type) {
	case *Unavailable:
		s.Text = w.e.r.u.unavailable(q)
	case *Subscribed:
		s.Text = w.unmet(q)
	case *Requires:
		s.Bundles = w.refs(r.owner)
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
		for _, b := range c.because {
			if b.kind != contradiction && b.kind != unmet {
				s.Bundles = w.refs(b.class)
			}
		}
		if q, ok := r.Fact.(*MustStay); ok {
			s.Bundles = []Ref{q.Operator}
		}
		s.one, s.many = "is needed, and cannot be chosen", "are needed, and cannot be chosen"
		made := &Step{}
		if x := (&claim{kind: excluded, class: max(r.owner, 0)}); r.owner != noClass {
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
func (w *narrator) both(c *claim) string {
	var names []string
	for _, b := range c.because {
		if b.kind != contradiction && b.kind != unmet {
			names = append(names, w.name(b.class, true))
		}
	}
	return strings.Join(names, " and ")
}
