package resolver

import (
	"fmt"
	"slices"
	"strings"

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
	var b strings.Builder
	bundles := func(refs []Ref) {
		if len(refs) > 0 && slices.Equal(refs, s.Bundles) {
			b.WriteString(" these")
			return
		}
		for _, r := range refs {
			fmt.Fprintf(&b, " %q", []string{r.Catalog.Name, r.Catalog.Namespace, r.Package, r.Channel, r.Name})
		}
	}
	fmt.Fprintf(&b, "%d %s %q", c.Kind, s.Code, s.Messages)
	switch {
	case c.Kind == proof.Unmet:
		if x := w.leaves[c.Part]; x != nil {
			b.WriteString(x.String())
		}
	case c.Rule >= 0:
		r := &w.rules[c.Rule]
		b.WriteString(w.e.likeness(r.facts[0]))
		if r.Owner != proof.NoClass {
			bundles(w.refs(r.Owner))
		}
	case c.Rule == proof.Counting:
		for _, i := range c.Crowding.Limits {
			fmt.Fprintf(&b, " %d", w.rules[i].facts[0])
		}
	}
	for _, x := range c.Because {
		fmt.Fprintf(&b, " %d", x.Kind)
		if x.Kind != proof.Contradiction && x.Kind != proof.Unmet {
			bundles(w.refs(x.Class))
		}
	}
	for _, x := range s.Because {
		bundles(x.Bundles)
		fmt.Fprintf(&b, " %d", x.like)
	}
	return w.e.likenessNumber(b.String())
}

// likenessNumber returns the number of a likeness.
func (e *encoding) likenessNumber(likeness string) int {
	if e.likes == nil {
		e.likes = map[string]int{}
	}
	n, ok := e.likes[likeness]
	if !ok {
		n = len(e.likes) + 1
		e.likes[likeness] = n
	}
	return n
}
