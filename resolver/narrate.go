package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
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
		s.Code, s.Text = codeUnmet, w.part(c.part)
		return s
	case c.rule == preference:
		s.Code, s.Bundles = codePreferred, w.refs(c.class)
		s.one, s.many = "was chosen before, as what is asked for first prefers", "were chosen before, as what is asked for first prefers"
		w.finish(s, w.name(c.class, false))
		return s
	case c.rule == supposition:
		s.Code, s.Bundles = codeSupposed, w.refs(c.class)
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
				if _, b := u.entry(w.e.facts[i].owner); true {
					if m, ok := b.Deprecation(); ok && !slices.Contains(s.Messages, m) {
						s.Messages = append(s.Messages, m)
					}
				}
			}
		case *Unusable:
			s.Places = append(s.Places, Place{f.Bundle.Catalog, f.Pos.File, f.Pos.Line, -1})
		case *Unsupported:
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
		s.one = "is all that can meet " + requirement(q) + ", which " + w.name(r.owner, true) + " requires"
		s.many = "are all that can meet " + requirement(q) + ", which " + w.name(r.owner, true) + " requires"
	}
}

// asks says that a subscription asks for some bundles, which are all there is,
// or all that is left.
func (w *narrator) asks(q *Subscribed, bundles []Ref, left bool) string {
	name := q.Subscription.Name
	_, current := offers(q)
	stays := slices.ContainsFunc(bundles, Ref.Installed)
	switch {
	case current == "" && q.Subscription.StartingCSV != "":
		return "is the startingCSV of subscription " + name
	case left:
		return "is all that is left for subscription " + name
	case current == "":
		return "is what subscription " + name + " asks for" + wants(&q.Subscription)
	case stays && len(bundles) == 1:
		return "is what subscription " + name + " has, and has no successor" + within(&q.Subscription)
	default:
		return "is what subscription " + name + " can have in one step" + within(&q.Subscription)
	}
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
		s.one = fmt.Sprintf("cannot be read: %v", q.Err)
		s.many = s.one
	case *Ruled:
		s.one = "is not allowed: " + q.Policy.String()
		s.many = "are not allowed: " + q.Policy.String()
	case *Unsupported:
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

// failure says, for the end of a clause, why a requirement is not met.
func (w *narrator) failure(c *claim, q *Requires) string {
	for _, b := range c.because {
		if b.kind == unmet && sameExpr(b.part.expr, q.Requirement) {
			return w.e.r.u.nothing(q.Requirement)
		}
	}
	against := c.because
	if c.kind == contradiction {
		against = against[1:] // the owner itself
	}
	if text := w.common(against); text != "" {
		return text
	}
	for _, b := range against {
		switch {
		case b.kind == chosen || b.kind == supposed:
			return ", which " + w.name(b.class, true) + " breaks"
		case b.kind == excluded && len(against) == 1 && len(distinct(w.refs(b.class))) == 1:
			return ", which only " + w.name(b.class, true) + " could meet"
		}
	}
	return ", and nothing is left to meet it"
}

// common tells the one policy that stands against all that could meet a
// requirement; "" when there is no such thing.
func (w *narrator) common(against []*claim) string {
	text := ""
	for _, c := range against {
		if c.kind != excluded || c.rule < 0 {
			return ""
		}
		q, ok := w.rules[c.rule].Fact.(*Ruled)
		if !ok {
			return ""
		}
		this := ", and what could meet it is not allowed: " + q.Policy.String()
		if text != "" && this != text {
			return ""
		}
		text = this
	}
	return text
}

// sameExpr reports whether two trees say the same.
func sameExpr(a, b constraints.Expr) bool {
	return a != nil && b != nil && (a == b || a.String() == b.String())
}

// part says that nothing meets a part of a requirement.
func (w *narrator) part(n *formula) string {
	if n.expr == nil {
		return "there is nothing to choose from"
	}
	return "it includes " + says(n.expr) + w.e.r.u.nothing(n.expr)
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

// offers tells what a subscription could have: its versions, each once, and the
// installed one.
func offers(q *Subscribed) (versions []string, current string) {
	for _, c := range q.Candidates {
		switch {
		case c.Installed():
			current = c.Name
		case !slices.Contains(versions, c.Name):
			versions = append(versions, c.Name)
		}
	}
	versions = slices.DeleteFunc(versions, func(name string) bool { return name == current })
	return versions, current
}

// unmet says that no candidate of a subscription is left.
func (w *narrator) unmet(q *Subscribed) string {
	versions, current := offers(q)
	text := "subscription " + q.Subscription.Name + " cannot be met: "
	switch n := len(versions); {
	case current != "" && n == 0:
		return text + "the installed " + current + " cannot stay, and has no successor" + within(&q.Subscription)
	case current != "" && n == 1:
		return text + "neither the installed " + current + " nor " + versions[0] + ", its only successor" + within(&q.Subscription) + ", can be chosen"
	case current != "":
		return fmt.Sprintf("%sneither the installed %s nor any of its %d successors%s can be chosen", text, current, n, within(&q.Subscription))
	case n == 1 && q.Subscription.StartingCSV != "":
		return text + "its startingCSV " + versions[0] + " cannot be chosen"
	case n == 1:
		return text + versions[0] + ", the only version" + wants(&q.Subscription) + ", cannot be chosen"
	default:
		return fmt.Sprintf("%snone of the %d versions%s can be chosen", text, n, wants(&q.Subscription))
	}
}

// fold tells a subscription and the only reason against all its candidates in
// one sentence.
func (w *narrator) fold(s *Step) {
	q, ok := s.Fact.(*Subscribed)
	if !ok || len(s.Because) != 1 || s.Because[0].one == "" || s.Because[0].Code == codeSupposed {
		return
	}
	why := s.Because[0]
	versions, current := offers(q)
	text := "subscription " + q.Subscription.Name + " cannot be met: "
	switch n := len(versions); {
	case current != "" && n == 0:
		text += "the installed " + current + ", which has no successor" + within(&q.Subscription) + ", " + why.one
	case current != "" && n == 1:
		text += "the installed " + current + " and " + versions[0] + ", its only successor" + within(&q.Subscription) + ", " + why.many
	case current != "":
		text += fmt.Sprintf("the installed %s and %s its successors%s %s", current, all(n), within(&q.Subscription), why.many)
	case n == 1 && q.Subscription.StartingCSV != "":
		text += "its startingCSV " + versions[0] + " " + why.one
	case n == 1:
		text += versions[0] + ", the only version" + wants(&q.Subscription) + ", " + why.one
	default:
		text += fmt.Sprintf("%s versions%s %s", all(n), wants(&q.Subscription), why.many)
	}
	s.told, s.under = text, why
}

// lead tells what makes the owner of an unmet requirement necessary in the same
// sentence, where that is one fact.
func (w *narrator) lead(s *Step, c *claim, r *rule) {
	if _, ok := r.Fact.(*Requires); !ok || len(c.because) == 0 || len(s.Because) == 0 {
		return
	}
	by := c.because[0]
	if by.kind != chosen || by.rule < 0 || len(by.because) > 0 || s.Because[0].Fact != w.rules[by.rule].Fact {
		return
	}
	names := distinct(s.Bundles)
	switch q := w.rules[by.rule].Fact.(type) {
	case *Subscribed:
		_, current := offers(q)
		text := "subscription " + q.Subscription.Name + " cannot be met: "
		switch {
		case len(names) > 1 && current == "":
			s.told = text + all(len(names)) + " versions" + wants(&q.Subscription) + " " + s.many
		case len(names) > 1:
			return
		case current == names[0]:
			s.told = text + "the installed " + current + ", which has no successor" + within(&q.Subscription) + ", " + s.one
		case current != "":
			return
		case q.Subscription.StartingCSV == names[0]:
			s.told = text + "its startingCSV " + names[0] + " " + s.one
		default:
			s.told = text + names[0] + ", the only version" + wants(&q.Subscription) + ", " + s.one
		}
	case *MustStay:
		s.told = "the installed " + q.Operator.Name + ", an orphan without a subscription that must stay, " + s.one
	default:
		return
	}
	under := *s
	under.told, under.Because = "", s.Because[1:]
	s.under = &under
}

// all counts what all of is meant.
func all(n int) string {
	if n == 2 {
		return "both"
	}
	return fmt.Sprintf("all %d", n)
}

// within returns the channel in which successors are looked for.
func within(s *Subscription) string {
	if s.Channel == "" {
		return ""
	}
	return " in channel " + s.Channel
}

// wants returns where a subscription looks, for the end of a clause.
func wants(s *Subscription) string {
	if s.Channel == "" {
		return " of package " + s.Package
	}
	return " in channel " + s.Channel + " of package " + s.Package
}

func requirement(q *Requires) string { return says(q.Requirement) }

// says names a requirement as a person would.
func says(x constraints.Expr) string {
	list := func(of []constraints.Expr) string {
		parts := make([]string, len(of))
		for i, x := range of {
			parts[i] = says(x)
		}
		return "(" + strings.Join(parts, "; ") + ")"
	}
	switch x := x.(type) {
	case *constraints.GVK:
		return "API " + x.GVK.String()
	case *constraints.CEL:
		return "what the rule " + strings.TrimPrefix(x.String(), "cel ") + " selects"
	case *constraints.All:
		if len(x.Of) == 1 {
			return says(x.Of[0])
		}
		return "all of " + list(x.Of)
	case *constraints.Any:
		if len(x.Of) == 1 {
			return says(x.Of[0])
		}
		return "one of " + list(x.Of)
	case *constraints.Not:
		if len(x.Of) == 1 && !compound(x.Of[0]) {
			return "no " + says(x.Of[0])
		}
		return "none of " + list(x.Of)
	}
	return x.String()
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
	return out
}

// key is equal for steps that say the same, apart from their bundles.
func (s *Step) key() string {
	var b strings.Builder
	b.WriteString(s.Code + "\x00" + s.one + "\x00" + strings.Join(s.Messages, "\x00") + "\x00")
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
