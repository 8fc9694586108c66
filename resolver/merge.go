package resolver

import (
	"slices"
	"strconv"

	"github.com/olmkit/olmkit/internal/proof"
)

// finish sets the text of a step from its subject and predicate.
func (w *narrator) finish(s *Step, subject string) {
	if s.one == "" {
		return
	}
	verb := s.many
	if s.either || len(distinct(s.Bundles)) == 1 {
		verb = s.one
	}
	s.Text = subject + " " + verb
}

// merge joins steps that state the same of different bundles.
func (w *narrator) merge(steps []*Step) []*Step {
	var out []*Step
	at := map[int]*Step{} // by likeness
	for _, s := range steps {
		first, ok := at[s.like]
		if !ok || s.one == "" {
			at[s.like] = s
			out = append(out, s)
			continue
		}
		w.absorb(first, s)
	}
	return out
}

// absorb adds the bundles of a step to a similar one, and to its reasons about the same
// bundles.
func (w *narrator) absorb(first, s *Step) {
	for i, c := range s.Because {
		if c.one != "" && len(c.Bundles) > 0 && slices.Equal(c.Bundles, s.Bundles) {
			w.absorb(first.Because[i], c)
		}
	}
	for _, b := range s.Bundles {
		if !slices.Contains(first.Bundles, b) {
			first.Bundles = append(first.Bundles, b)
		}
	}
	for _, p := range s.Places {
		if !slices.Contains(first.Places, p) {
			first.Places = append(first.Places, p)
		}
	}
	w.finish(first, w.e.r.u.group(first.Bundles, first.either))
}

// likenessOf returns a number that is equal for steps that state the same of different
// bundles. Only numbers from the same encoding are comparable.
func (w *narrator) likenessOf(s *Step, c *proof.Claim) int {
	b := w.buffer[:0]
	number := func(n int) { b = append(strconv.AppendInt(b, int64(n), 10), ' ') }
	text := func(t string) {
		number(len(t)) // so that no text passes for two
		b = append(b, t...)
	}
	own := c.Class // that s is about
	class := func(n int) {
		if n == own {
			b = append(b, "these "...)
			return
		}
		for _, c := range w.classes[n] {
			number(int(c))
		}
		b = append(b, '.')
	}
	number(int(c.Kind))
	text(string(s.Code))
	for _, m := range s.Messages {
		text(m)
	}
	switch {
	case c.Kind == proof.Unmet:
		own = proof.NoClass
		if x := w.leaves[c.Part]; x != nil {
			text(x.String())
		}
	case c.Rule >= 0:
		r := &w.rules[c.Rule]
		if c.Kind == proof.Contradiction {
			own = r.Owner
		}
		text(w.e.likeness(r.facts[0]))
		if r.Owner != proof.NoClass {
			class(r.Owner)
		}
	case c.Rule == proof.Counting:
		own = proof.NoClass
		for _, i := range c.Crowding.Limits {
			number(w.rules[i].facts[0])
		}
	}
	for _, x := range c.Because {
		number(int(x.Kind))
		if x.Kind != proof.Contradiction && x.Kind != proof.Unmet {
			class(x.Class)
		}
	}
	for _, x := range s.Because {
		if len(x.Bundles) > 0 && slices.Equal(x.Bundles, s.Bundles) {
			b = append(b, "these "...)
		} else {
			for _, r := range x.Bundles {
				text(r.Catalog.Name)
				text(r.Catalog.Namespace)
				text(r.Channel)
				text(r.Name)
			}
		}
		number(x.like)
	}
	w.buffer = b
	return w.e.likenessNumber(b)
}

// likenessNumber returns the number of a likeness.
func (e *encoding) likenessNumber(likeness []byte) int {
	if e.likes == nil {
		e.likes = map[string]int{}
	}
	n, ok := e.likes[string(likeness)]
	if !ok {
		n = len(e.likes) + 1
		e.likes[string(likeness)] = n
	}
	return n
}
