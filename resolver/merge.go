package resolver

import (
	"slices"
	"strings"
)

// finish makes the text of a step about bundles.
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

// merge joins steps that say the same of different bundles.
func (w *narrator) merge(steps []*Step) []*Step {
	var out []*Step
	at := map[string]*Step{}
	for _, s := range steps {
		key := s.key()
		first, ok := at[key]
		if !ok || s.one == "" {
			at[key] = s
			out = append(out, s)
			continue
		}
		w.absorb(first, s)
	}
	return out
}

// absorb adds the bundles of a step to one that says the same, also where a reason
// is about these bundles.
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

// key is equal for steps that say the same, apart from their bundles.
func (s *Step) key() string {
	var b strings.Builder
	b.WriteString(string(s.Code) + "\x00" + s.one + "\x00" + strings.Join(s.Messages, "\x00") + "\x00")
	if s.one == "" {
		b.WriteString(s.Text)
	}
	for _, c := range s.Because {
		b.WriteString("(")
		if slices.Equal(c.Bundles, s.Bundles) && len(c.Bundles) > 0 && c.one != "" {
			b.WriteString("these ")
		} else {
			for _, r := range c.Bundles {
				b.WriteString(r.String() + " ")
			}
		}
		b.WriteString(c.key() + ")")
	}
	return b.String()
}
