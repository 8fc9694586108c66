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
	return w.step(end)
}

// List returns a step that lists facts as the reasons of a conclusion. ids are equal for
// equal facts.
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

// A Rejection is a step that states that a bundle cannot be chosen.
type Rejection struct{ *step }

// Reject returns the step for a bundle that contradicts earlier choices. end is the proof of
// that; if it is nil or too long to read, the step lists facts as List does.
func (n *Narrator) Reject(bundle fact.Ref, c *Core, end *proof.Claim, facts []fact.Fact, ids []int) Rejection {
	s := &step{Step: fact.Step{Code: supposed, Bundles: []fact.Ref{bundle}}, one: "cannot be chosen", many: "cannot be chosen"}
	if end := n.derive(c, end); end != nil {
		s.because = []*step{end}
	} else {
		s.because = n.list(facts, ids)
	}
	s.finish(bundle.Name)
	key := []byte("rejected")
	for _, x := range s.because {
		key = strconv.AppendInt(append(key, ' '), int64(x.Likeness), 10)
	}
	s.Likeness = n.like(key)
	return Rejection{s}
}

// Step returns the rejection as a step of a derivation.
func (r Rejection) Step() *fact.Step { return r.done() }

// Merge returns the steps of rejections, one for those with the same reasons.
func (n *Narrator) Merge(list []Rejection) []*fact.Step {
	steps := make([]*step, len(list))
	for i, r := range list {
		steps[i] = r.step
	}
	w := writing{Narrator: n}
	return finished{}.all(w.merge(steps))
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
	// folded is the text combined with one of its reasons, or "". The places, messages
	// and reasons of under are shown below it.
	folded string
	under  *step
}

// done returns the finished step.
func (s *step) done() *fact.Step { return finished{}.step(s) }

// finished caches the finished steps: a folded step is the reason of two others.
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
