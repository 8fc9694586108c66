// Package prose turns the proofs of internal/proof into English. It makes steps from claims,
// merges steps that state the same thing about different bundles, and writes steps as lines
// of text and as Markdown.
package prose

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Core is a proof's rules over classes of bundles, with the facts behind them.
type Core struct {
	Rules   []Rule
	Classes [][]fact.Ref
	// Parts are the constraints in the formulas of the rules. Likes are numbers that are
	// equal for equal constraints.
	Parts map[*proof.Formula]constraints.Expr
	Likes map[*proof.Formula]int
	// Supposed is the class of the bundle that the proof rejects, or proof.NoClass.
	Supposed int
}

// A Rule is one or more facts that state the same thing about bundles of one class.
type Rule struct {
	Facts []fact.Fact
	Owner int            // the class, or proof.NoClass
	Need  *proof.Formula // of a requirement
	// Like is equal for rules of one resolution that state the same thing about their owners.
	Like int
}

// Catalogs looks up details that sentences mention in addition to facts.
type Catalogs interface {
	// Version returns the version of a bundle or installed operator.
	Version(fact.Ref) semver.Version
	// Installed reports whether an operator is installed.
	Installed(name string) bool
	// Skipped returns the number of entries in the channels of a subscription that cannot
	// be selected because other entries skip them.
	Skipped(*fact.Subscription) int
	// Near returns near misses for a requirement that no bundle satisfies.
	Near(constraints.Expr) Near
}

// A Narrator makes the steps of one resolution. It must not be used concurrently.
type Narrator struct {
	catalogs Catalogs
	likes    map[string]int
}

// NewNarrator returns a narrator that looks up names in catalogs.
func NewNarrator(catalogs Catalogs) *Narrator {
	return &Narrator{catalogs: catalogs, likes: map[string]int{}}
}

// The codes of steps without a fact.
const (
	// unmetPart: nothing satisfies a part of a requirement.
	unmetPart fact.Code = "unmet-part"
	// crowded: more bundles are required than the namespace can hold.
	crowded fact.Code = "crowded"
	// supposed: an option was tried and refuted.
	supposed fact.Code = "supposed"
	// preferred: an earlier choice has priority.
	preferred fact.Code = "preferred"
	// contradiction: the facts of a core, listed without a derivation.
	contradiction fact.Code = "contradiction"
)

// maxSteps is the largest number of steps in a derivation. A derivation repeats claims that
// its proof shares, so it can be far longer than the proof.
const maxSteps = 400

// Derive turns the proof of a contradiction into its last step, with the steps that lead to
// it as reasons. It returns nil if end is nil, or if there are too many steps to read.
func (n *Narrator) Derive(c *Core, end *proof.Claim) *fact.Step {
	if s := n.derive(c, end); s != nil {
		return s.done()
	}
	return nil
}

func (n *Narrator) derive(c *Core, end *proof.Claim) *step {
	if end == nil || end.Steps(maxSteps) > maxSteps {
		return nil
	}
	w := writing{Narrator: n, Core: c, names: map[nameKey]string{}, classLikes: map[int]int{}}
	if s := w.rivals(); s != nil {
		return s
	}
	return w.step(end)
}

// List returns a step that lists facts as the reasons of a conclusion. ids has a number for
// each fact, and equal facts have equal numbers.
func (n *Narrator) List(conclusion string, facts []fact.Fact, ids []int) *fact.Step {
	s := &step{Step: fact.Step{Code: contradiction, Text: conclusion}, because: n.list(facts, ids)}
	return s.done()
}

func (n *Narrator) list(facts []fact.Fact, ids []int) (list []*step) {
	for i, f := range facts {
		like := n.like(fmt.Appendf(nil, "fact %d", ids[i]))
		list = append(list, &step{Step: fact.Step{Code: f.Code(), Text: f.String(), Fact: f, Likeness: like}})
	}
	return list
}

// A Rejection is the proof that a bundle cannot be chosen.
type Rejection struct {
	Bundle fact.Ref
	Core   *Core
	// End is the contradiction that follows from the bundle. If it is nil or too long to
	// read, the step lists Facts as [Narrator.List] does.
	End   *proof.Claim
	Facts []fact.Fact
	IDs   []int
}

// Reject returns the step for a bundle that cannot be chosen.
func (n *Narrator) Reject(r *Rejection) *fact.Step { return n.reject(r).done() }

func (n *Narrator) reject(r *Rejection) *step {
	s := &step{Step: fact.Step{Code: supposed, Bundles: []fact.Ref{r.Bundle}}, one: "cannot be chosen", many: "cannot be chosen"}
	if end := n.derive(r.Core, r.End); end != nil {
		s.because = []*step{end}
		if _, ok := end.Fact.(*fact.Subscribed); ok { // which is satisfied without the bundle
			s.one, s.many = "cannot be chosen, since then", "cannot be chosen, since then"
		}
	} else {
		s.because = n.list(r.Facts, r.IDs)
	}
	s.finish(r.Bundle.Name)
	key := []byte("rejected")
	for _, x := range s.because {
		key = strconv.AppendInt(append(key, ' '), int64(x.Likeness), 10)
	}
	s.Likeness = n.like(key)
	return s
}

// Rejects returns steps for bundles that cannot be chosen. Bundles that are rejected for the
// same reasons share a step. If the only reason of a step is about the same bundles, the
// reason is shown instead of the step.
func (n *Narrator) Rejects(list []*Rejection) []*fact.Step {
	groups := map[int][]int{} // by likeness
	steps := make([]*step, len(list))
	for i, r := range list {
		steps[i] = n.reject(r)
		groups[steps[i].Likeness] = append(groups[steps[i].Likeness], i)
	}
	var out []*step
	for i, s := range steps {
		group := groups[s.Likeness]
		if group[0] != i {
			continue
		}
		if c := list[i].Core; len(group) > 1 && c.Supposed != proof.NoClass {
			// Let the sentences name all of these bundles, not only the first one.
			all := *c
			all.Classes = slices.Clone(c.Classes)
			all.Classes[c.Supposed] = nil
			for _, k := range group {
				all.Classes[c.Supposed] = append(all.Classes[c.Supposed], list[k].Bundle)
			}
			first := *list[i]
			first.Core = &all
			s = n.reject(&first)
		}
		w := writing{Narrator: n}
		for _, k := range group[1:] {
			w.absorb(s, steps[k])
		}
		if len(s.because) == 1 && slices.Equal(s.because[0].Bundles, s.Bundles) {
			s.folded, s.under = s.because[0].Text, s.because[0]
			if f := s.because[0]; f.folded != "" {
				s.folded, s.under = f.folded, f.under
			}
		}
		out = append(out, s)
	}
	return finished{}.all(out)
}

// like returns the number of a likeness.
func (n *Narrator) like(key []byte) int {
	number, ok := n.likes[string(key)]
	if !ok {
		number = len(n.likes) + 1
		n.likes[string(key)] = number
	}
	return number
}

// A step is a step under construction.
type step struct {
	fact.Step
	because []*step
	// one and many are the text without its subject, for one bundle and for several.
	one, many string
	// either means one of the bundles, not each of them.
	either bool
	// folded is the text combined with one of its reasons, or "". If it is set, the places,
	// messages and reasons in under are shown below it.
	folded string
	under  *step
}

// done returns the finished step.
func (s *step) done() *fact.Step { return finished{}.step(s) }

// finished caches finished steps, because the steps below a folded one are reached twice:
// from the step itself and from its folded form.
type finished map[*step]*fact.Step

func (made finished) step(s *step) *fact.Step {
	if out, ok := made[s]; ok {
		return out
	}
	out := s.Step
	out.Because = made.all(s.because)
	if s.folded != "" {
		shown := *made.step(s.under)
		shown.Text, shown.Folded = s.folded, nil
		out.Folded = &shown
	}
	made[s] = &out
	return &out
}

func (made finished) all(steps []*step) []*fact.Step {
	var out []*fact.Step
	for _, s := range steps {
		out = append(out, made.step(s))
	}
	return out
}

// finish sets the text of a step from its subject and predicate.
func (s *step) finish(subject string) {
	if s.one == "" {
		return
	}
	verb := s.many
	if s.either || len(fact.Names(s.Bundles)) == 1 {
		verb = s.one
	}
	s.Text = subject + " " + verb
}

// merge joins steps that state the same thing about different bundles.
func (w *writing) merge(steps []*step) []*step {
	var out []*step
	at := map[int]*step{} // by likeness
	for _, s := range steps {
		first, ok := at[s.Likeness]
		if !ok || s.one == "" {
			at[s.Likeness] = s
			out = append(out, s)
			continue
		}
		w.absorb(first, s)
	}
	return out
}

// absorb adds the bundles of a step to a similar one, and to its reasons about the same
// bundles.
func (w *writing) absorb(first, s *step) {
	for i, c := range s.because {
		if c.one != "" && len(c.Bundles) > 0 && slices.Equal(c.Bundles, s.Bundles) {
			w.absorb(first.because[i], c)
		}
	}
	first.Bundles = union(first.Bundles, s.Bundles)
	first.Places = union(first.Places, s.Places)
	first.finish(w.group(first.Bundles, first.either))
}

func union[T comparable](list, more []T) []T {
	for _, x := range more {
		if !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	return list
}
