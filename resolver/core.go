package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/sat"
	"github.com/olmkit/olmkit/resolver/fact"
)

// cores returns minimal sets of facts that cannot all hold (D16), as numbers of facts in
// order. They are independent: no two share a subscription or an operator that must stay.
func (e *encoding) cores(ctx context.Context) ([][]int, error) {
	on := slices.Clone(e.on)
	var found [][]int
	e.coreOf = map[int]int{}
	for {
		core, _, err := e.conflict(ctx, on, nil)
		if err != nil || core == nil {
			return found, err
		}
		e.describe(core)
		requests := map[sat.Lit]bool{}
		for _, i := range core {
			if isRequest(e.facts[i].Fact) {
				e.coreOf[i] = len(found)
				requests[e.on[i]] = true
			}
		}
		on = slices.DeleteFunc(on, func(l sat.Lit) bool { return requests[l] })
		found = append(found, core)
	}
}

// conflict returns a minimal set of the switched-on facts and of candidates that cannot all
// hold, in order. It returns no facts if all can hold.
func (e *encoding) conflict(ctx context.Context, on []sat.Lit, with []cand) ([]int, []cand, error) {
	assume := slices.Concat(on, e.of(with))
	if ok, err := e.s.Solve(ctx, assume...); ok || err != nil {
		return nil, nil, err
	}
	used := map[sat.Lit]bool{}
	var facts []int
	for _, l := range e.s.Core() {
		used[l] = true
		if i, ok := slices.BinarySearch(e.on, l); ok { // each switch is newer than those before
			facts = append(facts, i)
		}
	}
	slices.Sort(facts)
	facts = slices.Compact(facts)
	with = slices.DeleteFunc(slices.Clone(with), func(c cand) bool { return !used[e.vars[c]] })
	facts, with, err := e.minimal(ctx, facts, with)
	return e.agreeing(facts), with, err
}

// fails reports whether fact i is a requirement that nothing satisfies.
func (e *encoding) fails(i int) bool {
	_, ok := e.facts[i].Fact.(*fact.Requires)
	return ok && e.facts[i].need.unmet()
}

// agreeing replaces requirements that nothing satisfies with others of the same bundles, so that as many
// bundles as possible fail for the same reason. A conflict with them is as minimal as before: each only
// states that its bundle cannot be chosen.
func (e *encoding) agreeing(facts []int) []int {
	at := map[cand]int{} // the place of the requirement of each bundle in facts
	for n, i := range facts {
		if e.fails(i) {
			at[e.facts[i].owner] = n
		}
	}
	if len(at) < 2 {
		return facts
	}
	var options []int
	count := map[*need]int{}
	for i, f := range e.facts {
		if _, ok := at[f.owner]; ok && e.fails(i) {
			options = append(options, i)
			count[f.need]++
		}
	}
	out := slices.Clone(facts)
	for _, i := range options {
		n := at[e.facts[i].owner]
		if count[e.facts[i].need] > count[e.facts[out[n]].need] {
			out[n] = i
		}
	}
	slices.Sort(out)
	return out
}

// fewFacts is the number of facts below which a separate solver does not pay off.
const fewFacts = 500

// minimal drops facts that a conflict does not need. In a large namespace it uses a separate
// solver with only the remaining facts: a model of the whole namespace for each needed fact
// would cost far more.
func (e *encoding) minimal(ctx context.Context, facts []int, with []cand) ([]int, []cand, error) {
	small, on := e, make([]sat.Lit, len(facts))
	if len(e.facts) > fewFacts {
		small = e.r.newEncoding(e.mentioned(facts, with))
		for _, i := range facts {
			small.state(ctx, e.facts[i])
		}
		small.common(ctx)
		copy(on, small.on)
	} else {
		for n, i := range facts {
			on[n] = e.on[i]
		}
	}
	assume := slices.Concat(on, small.of(with))
	core, err := small.s.MinimalCore(ctx, assume, e.rotate(ctx, small, assume, facts, with))
	if err != nil {
		return nil, nil, err
	}
	if err := e.r.interrupted(ctx); err != nil {
		return nil, nil, err
	}
	used := map[sat.Lit]bool{}
	for _, l := range core {
		used[l] = true
	}
	var needed []int
	for n, i := range facts {
		if used[on[n]] {
			needed = append(needed, i)
		}
	}
	return needed, slices.DeleteFunc(with, func(c cand) bool { return !used[small.vars[c]] }), nil
}

// rotate returns a function that finds facts that a conflict needs, for
// [sat.Solver.MinimalCore]. The conflict consists of the facts and candidates that assume
// switches on in the encoding.
func (e *encoding) rotate(ctx context.Context, in *encoding, assume []sat.Lit, facts []int, with []cand) func([]sat.Lit, sat.Lit) []sat.Lit {
	var r *rotation
	number := make(map[sat.Lit]int, len(assume))
	for n, l := range assume {
		number[l] = n
	}
	return func(core []sat.Lit, without sat.Lit) []sat.Lit {
		if r == nil {
			var stated []stating
			for _, i := range facts {
				stated = append(stated, e.facts[i])
			}
			for _, c := range with {
				stated = append(stated, stating{Fact: &fact.MustStay{}, owner: c})
			}
			r = e.newRotation(ctx, stated)
		}
		left := make([]int, len(core))
		for i, l := range core {
			left[i] = number[l]
		}
		var out []sat.Lit
		for _, i := range r.from(ctx, left, number[without], func(c cand) bool { return in.s.Value(in.vars[c]) }) {
			out = append(out, assume[i])
		}
		return out
	}
}

// mentioned returns the given candidates and those that facts are about, in canonical
// order.
func (e *encoding) mentioned(facts []int, others []cand) []cand {
	is, needs := map[cand]bool{}, map[*need]bool{}
	see := func(c cand) { is[c] = true }
	for _, i := range facts {
		f := e.facts[i]
		if f.owner != noCand {
			see(f.owner)
		}
		if f.need != nil {
			f.need.eachNew(needs, see)
		}
		for _, c := range f.list {
			see(c)
		}
	}
	for _, c := range others {
		see(c)
	}
	return slices.DeleteFunc(slices.Clone(e.reached), func(c cand) bool { return !is[c] })
}

// alone returns the problem without the subscriptions and operators that the other cores
// request, so a fix affects only this core.
func (c *Core) alone() Problem {
	u := c.e.r.u
	p := *u.p
	p.Options.Partial = false
	p.Subscriptions = nil
	aside := map[string]bool{}
	for i, f := range c.e.facts {
		if !isRequest(f.Fact) {
			continue
		}
		foreign := c.foreign(i)
		switch {
		case i >= len(u.subs):
			aside[u.installed[f.owner].Name] = foreign
		case !foreign:
			p.Subscriptions = append(p.Subscriptions, *u.subs[i].Subscription)
		case u.subs[i].current != nil:
			aside[u.subs[i].current.Name] = true
		}
	}
	p.Installed = slices.DeleteFunc(slices.Clone(p.Installed), func(in Installed) bool { return aside[in.Name] })
	return p
}
