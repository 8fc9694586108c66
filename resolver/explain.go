package resolver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
)

// A Step is one sentence of a derivation and the steps that support it.
type Step struct {
	// Code is the code of the fact that the step applies, or "supposed".
	Code string `json:"code"`
	// Bundles are what the step is about. Bundles that behave alike share one
	// step.
	Bundles []Ref  `json:"bundles,omitempty"`
	Text    string `json:"text"`
	// Places are where the catalogs say so, for each of Bundles.
	Places []Place `json:"places,omitempty"`
	// Messages are the failureMessages that the authors wrote for this case.
	Messages []string `json:"messages,omitempty"`
	Because  []*Step  `json:"because,omitempty"`
	// Fact is the fact that the step applies; of merged steps the first.
	Fact Fact `json:"-"`

	// predicate is the text without the bundles, for one and for several.
	one, many string
}

// A Place is where a catalog says something.
type Place struct {
	Catalog CatalogID `json:"catalog"`
	File    string    `json:"file"`
	Line    int       `json:"line"`
	// Property is the index of the property.
	Property int `json:"property"`
}

// String returns "catalog file:line, property n".
func (p Place) String() string {
	return fmt.Sprintf("%s %s, property %d", p.Catalog.Name, fbc.Pos{File: p.File, Line: p.Line}, p.Property)
}

// A Derivation leads from what was asked for to the contradiction, the
// conclusion first.
type Derivation struct {
	// Conclusion is the contradiction; its Because leads back to the facts.
	Conclusion *Step `json:"conclusion"`
}

// Derive returns the derivation of the core. It is made when it is asked for.
func (c *Core) Derive() *Derivation {
	w := narrator{e: c.e}
	end := c.e.prove(context.Background(), c.index, nil, noCand)
	if end == nil {
		// Not reached: a core is unsatisfiable. Its facts say all there is.
		s := &Step{Code: "contradiction", Text: "these facts cannot all hold"}
		for _, f := range c.Facts {
			s.Because = append(s.Because, &Step{Code: f.Code(), Text: f.String(), Fact: f})
		}
		return &Derivation{s}
	}
	return &Derivation{w.step(end)}
}

// Headline returns one line that says what is wrong.
func (d *Derivation) Headline() string {
	s := d.Conclusion
	text := s.Text
	// A single cause belongs into the first line.
	for len(s.Because) == 1 {
		s = s.Because[0]
		if s.Code == codeSupposed {
			break
		}
		text += ": " + s.Text
		if len(s.Because) != 1 {
			break
		}
	}
	return text
}

// The codes of steps that apply no fact.
const (
	codeSupposed  = "supposed"
	codePreferred = "preferred"
)

// A narrator turns claims into steps.
type narrator struct {
	e *encoding
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
	return merge(out)
}

func (w *narrator) ref(c cand) Ref { return w.e.r.u.ref(c) }

// step tells one claim.
func (w *narrator) step(c *claim) *Step {
	s := &Step{}
	if c.fact == preference {
		s.Code = codePreferred
		s.Bundles = []Ref{w.ref(c.cand)}
		s.one, s.many = "was chosen before, as what is asked for first prefers", "were chosen before, as what is asked for first prefers"
		s.finish()
		return s
	}
	if c.fact == supposition {
		s.Code = codeSupposed
		s.Bundles = []Ref{w.ref(c.cand)}
		s.one, s.many = "is no way out either", "are no way out either"
		s.Because = w.steps(c.because)
		s.finish()
		return s
	}
	f := w.e.facts[c.fact]
	s.Fact, s.Code = f.Fact, f.Code()
	if q, ok := f.Fact.(*Requires); ok && !q.Bundle.Installed() {
		s.Places = []Place{{q.Bundle.Catalog, q.Pos.File, q.Pos.Line, q.Property}}
	}
	switch c.kind {
	case chosen:
		s.Bundles = []Ref{w.ref(c.cand)}
		w.chosen(s, c, f)
	case excluded:
		s.Bundles = []Ref{w.ref(c.cand)}
		w.excluded(s, c, f)
	default:
		w.contradiction(s, c, f)
	}
	if s.Because == nil {
		s.Because = w.steps(c.because)
	}
	s.finish()
	return s
}

func (w *narrator) chosen(s *Step, c *claim, f stating) {
	switch q := f.Fact.(type) {
	case *MustStay:
		s.one, s.many = "is installed without a subscription and must stay", "are installed without a subscription and must stay"
	case *Subscribed:
		s.one = "is all that subscription " + q.Subscription.Name + " can have" + wants(&q.Subscription)
	case *Requires:
		s.one = "is all that can meet " + requirement(q) + ", which " + q.Bundle.Name + " requires"
		s.Messages = messages(q.Requirement)
	default:
		s.one = "must be chosen: " + f.String()
	}
	s.many = s.one
}

func (w *narrator) excluded(s *Step, c *claim, f stating) {
	other := func() string {
		for _, b := range c.because {
			if b.kind != contradiction {
				return w.ref(b.cand).Name
			}
		}
		return "the others"
	}
	switch q := f.Fact.(type) {
	case *OnePerPackage:
		s.one = fmt.Sprintf("cannot stand beside %s: a namespace holds one version of package %s", other(), q.Package)
		s.many = s.one
	case *OneProvider:
		s.one = fmt.Sprintf("cannot stand beside %s: both provide %s", other(), q.API)
		s.many = fmt.Sprintf("cannot stand beside %s: all provide %s", other(), q.API)
	case *Replaced:
		s.one = fmt.Sprintf("cannot stand beside %s, whose place it takes", other())
		s.many = s.one
	case *Prohibited:
		s.one = "has the property olm.deprecated, which forbids choosing it"
		s.many = "have the property olm.deprecated, which forbids choosing them"
	case *Unusable:
		s.one = fmt.Sprintf("cannot be used: %v", q.Err)
		s.many = s.one
	case *Ruled:
		s.one = "is not allowed: " + q.Policy.String()
		s.many = "are not allowed: " + q.Policy.String()
	case *Requires:
		s.Messages = messages(q.Requirement)
		if c.cand != f.owner {
			s.one = fmt.Sprintf("is ruled out by %s, which requires %s", q.Bundle.Name, requirement(q))
			s.many = fmt.Sprintf("are ruled out by %s, which requires %s", q.Bundle.Name, requirement(q))
			return
		}
		nothing := ""
		if len(q.Candidates) == 0 {
			nothing = w.nothing(q)
		}
		s.one, s.many = "requires "+requirement(q)+nothing, "require "+requirement(q)+nothing
	default:
		s.one = "cannot be chosen: " + f.String()
		s.many = s.one
	}
}

func (w *narrator) contradiction(s *Step, c *claim, f stating) {
	switch q := f.Fact.(type) {
	case *Unavailable:
		s.Text = q.String()
	case *Subscribed:
		s.Text = unmet(q)
	case *Requires:
		s.Bundles = []Ref{q.Bundle}
		s.Messages = messages(q.Requirement)
		if len(q.Candidates) == 0 {
			s.one = "requires " + requirement(q) + w.nothing(q)
		} else {
			s.one = "requires " + requirement(q) + ", and nothing can meet it"
		}
		s.many = s.one
	case *OnePerPackage:
		s.Text = fmt.Sprintf("%s cannot both be installed: a namespace holds one version of package %s", w.both(c), q.Package)
	case *OneProvider:
		s.Text = fmt.Sprintf("%s cannot both be installed: both provide %s", w.both(c), q.API)
	case *Replaced:
		s.Text = fmt.Sprintf("%s cannot both be installed: one takes the place of the other", w.both(c))
	case *MustStay:
		s.Text = fmt.Sprintf("%s is installed without a subscription and must stay, and it cannot", q.Operator.Name)
	default:
		s.Text = f.String()
	}
}

// both names the two candidates that a contradiction is about.
func (w *narrator) both(c *claim) string {
	var names []string
	for _, b := range c.because {
		if b.kind != contradiction {
			names = append(names, w.ref(b.cand).Name)
		}
	}
	return strings.Join(names, " and ")
}

// unmet says that no candidate of a subscription is left.
func unmet(q *Subscribed) string {
	n, current := 0, ""
	for _, c := range q.Candidates {
		if c.Installed() {
			current = c.Name
		} else {
			n++
		}
	}
	text := "subscription " + q.Subscription.Name + " cannot be met"
	switch {
	case current != "" && n == 0:
		return text + ": the installed " + current + " cannot stay, and nothing in channel " + q.Subscription.Channel + " can follow it"
	case current != "":
		return text + ": the installed " + current + " cannot stay, and nothing that follows it" + wants(&q.Subscription) + " can be installed"
	case n == 1:
		return text + ": " + q.Candidates[0].Name + ", its only candidate" + wants(&q.Subscription) + ", cannot be installed"
	}
	return fmt.Sprintf("%s: none of its %d candidates%s can be installed", text, n, wants(&q.Subscription))
}

// wants returns where a subscription looks, for the end of a clause.
func wants(s *Subscription) string {
	if s.Channel == "" {
		return " in package " + s.Package
	}
	return " in channel " + s.Channel + " of package " + s.Package
}

func requirement(q *Requires) string {
	if g, ok := q.Requirement.(*constraints.GVK); ok {
		return "API " + g.GVK.String()
	}
	return q.Requirement.String()
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

// finish makes the text of a step about bundles.
func (s *Step) finish() {
	if s.one == "" {
		return
	}
	if len(s.Bundles) == 1 {
		s.Text = s.Bundles[0].Name + " " + s.one
	} else {
		s.Text = group(s.Bundles) + " " + s.many
	}
}

// nothing says that no bundle meets a requirement, and what comes close.
func (w *narrator) nothing(q *Requires) string {
	text := ", which nothing in any catalog meets"
	if near := w.e.r.u.near(q.Requirement); near != "" {
		text += "; " + near
	}
	return text
}

// group names bundles, and only the ends of many.
func group(refs []Ref) string {
	var names []string
	for _, r := range refs {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	switch n := len(names); {
	case n == 1:
		return names[0]
	case n <= 3:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	default:
		return fmt.Sprintf("%s … %s (%d bundles)", names[0], names[n-1], n)
	}
}

// merge joins steps that say the same of different bundles.
func merge(steps []*Step) []*Step {
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
		first.finish()
	}
	return out
}

// key is equal for steps that say the same, apart from their bundles.
func (s *Step) key() string {
	var b strings.Builder
	b.WriteString(s.Code + "\x00" + s.one + "\x00")
	if s.one == "" {
		b.WriteString(s.Text)
	}
	for _, c := range s.Because {
		b.WriteString("(")
		for _, r := range c.Bundles {
			b.WriteString(r.String() + " ")
		}
		b.WriteString(c.key() + ")")
	}
	return b.String()
}
