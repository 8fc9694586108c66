package resolver

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/sat"
)

// Supposing one way after the other tells nobody that five operators want one of
// four APIs each. Counting does, so a proof counts before it supposes.

// crowded marks a contradiction that was found by counting.
const crowded = -3

// A crowding is what asks for more than there is room for.
type crowding struct {
	demands []crowder
	limits  []int // rules that allow one; one fewer than demands
}

// A crowder is a rule that asks for one of some classes, and the claims behind it:
// that its owner is chosen, and that other classes are excluded.
type crowder struct {
	rule    int
	left    []int
	because []*claim
}

// count returns the contradiction that more is asked for than there is room for,
// or nil.
func (p *prover) count() *claim {
	var all []crowder
	var demands, limits [][]int
	var limitOf []int
	for i := range p.rules {
		r := &p.rules[i]
		*p.work--
		switch {
		case r.list != nil:
			*p.work -= len(r.list)
			if !slices.ContainsFunc(r.list, p.is) {
				limits, limitOf = append(limits, r.list), append(limitOf, i)
			}
		case r.need != nil && r.need.kind == anyOf && (r.owner == noClass || p.is(r.owner)) && !slices.ContainsFunc(r.need.classes, p.is):
			*p.work -= len(r.need.classes)
			d := crowder{rule: i, because: p.premise(r)}
			for _, c := range r.need.classes {
				if p.not(c) {
					d.because = append(d.because, p.known[c])
				} else {
					d.left = append(d.left, c)
				}
			}
			all, demands = append(all, d), append(demands, d.left)
		}
	}
	over, by := sat.Overfull(demands, limits)
	if over == nil {
		return nil
	}
	end := &claim{kind: contradiction, rule: crowded, crowding: &crowding{}}
	for _, n := range over {
		end.crowding.demands = append(end.crowding.demands, all[n])
		end.because = append(end.because, all[n].because...)
	}
	for _, n := range by {
		end.crowding.limits = append(end.crowding.limits, limitOf[n])
	}
	return end
}

// crowded tells that more is asked for than there is room for.
func (w *narrator) crowded(s *Step, c *claim) {
	var subs, who, kinds, holds []string
	for _, d := range c.crowding.demands {
		r := &w.rules[d.rule]
		x := &Step{Fact: r.Fact, Code: r.Code(), either: true, Because: w.steps(d.because)}
		for _, k := range d.left {
			x.Bundles = append(x.Bundles, w.refs(k)...)
		}
		w.cite(x, r, c)
		switch q := r.Fact.(type) {
		case *Subscribed:
			subs = append(subs, q.Subscription.Name)
			x.one = w.asks(q, x.Bundles, len(d.because) > 0)
			x.many = x.one
		case *Requires:
			who = append(who, fmt.Sprintf("%s for what meets %s", w.name(r.owner, true), requirement(q)))
			x.one, x.many = meets(q, w.name(r.owner, true))
		}
		w.finish(x, w.e.r.u.group(x.Bundles, true))
		s.Because = append(s.Because, x)
	}
	if len(subs) > 0 {
		who = slices.Insert(who, 0, pluralOf(len(subs), "subscription")+" "+andList(subs))
	}
	var apis, packages []string
	for _, i := range c.crowding.limits {
		switch q := w.rules[i].Fact.(type) {
		case *OneProvider:
			apis = append(apis, q.API.String())
		case *OnePerPackage:
			packages = append(packages, q.Package)
		case *Replaced:
			kinds = append(kinds, fmt.Sprintf("is %s or the installed %s", q.Bundle.Name, q.Operator.Name))
			holds = append(holds[:0], "an operator or what takes its place")
		}
	}
	if len(packages) > 0 {
		kinds, holds = append(kinds, "is of package "+wordList(packages)), append(holds, "one version of a package")
	}
	if len(apis) > 0 {
		kinds, holds = append(kinds, "provides "+wordList(apis)), append(holds, "one provider of an API")
	}
	s.Code = CodeCrowded
	s.Text = fmt.Sprintf("%s ask for %d bundles, and there is room for %d: each %s, and a namespace holds %s",
		andList(who), len(c.crowding.demands), len(c.crowding.limits), wordList(kinds), andList(holds))
}
