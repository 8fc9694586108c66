package resolver

import (
	"context"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/internal/sat"
	"github.com/olmkit/olmkit/property"
)

// An encoding states a problem as clauses. Every fact has a switch of its own,
// so that two facts with one formula stay two; a set of switches that cannot
// hold together is a conflict of facts.
type encoding struct {
	r       *resolution
	s       *sat.Solver
	reached []cand // in canonical order
	vars    map[cand]sat.Lit
	cands   map[sat.Lit]cand
	lits    map[*need]sat.Lit
	needOf  map[sat.Lit]*need // of an option of a some
	facts   []stating
	on      []sat.Lit // the switch of each fact, in parallel
	found   [][]int   // the cores, once they were asked for
}

// A stating is a fact with what it means for candidates, so that a proof can be
// followed without the solver.
type stating struct {
	Fact
	// owner is the candidate that the fact binds, or noCand.
	owner cand
	// need is what must hold: of a subscription always, of an owner when it is
	// chosen.
	need *need
	// list holds candidates of which at most one can be chosen.
	list []cand
}

const noCand cand = -1

// encode states everything that was reached.
func (r *resolution) encode(ctx context.Context) (*encoding, error) {
	e := &encoding{
		r: r, vars: map[cand]sat.Lit{}, cands: map[sat.Lit]cand{},
		lits: map[*need]sat.Lit{}, needOf: map[sat.Lit]*need{},
	}
	if err := e.reach(ctx); err != nil {
		return nil, err
	}
	e.s = sat.New(4 * len(e.reached))
	for _, c := range e.reached {
		l := e.s.Lit()
		e.vars[c], e.cands[l] = l, c
	}
	u := r.u
	for i, s := range u.subs {
		if missing := r.missing[i]; missing != nil {
			e.assert(stating{Fact: missing, owner: noCand}, e.s.True().Not())
			continue
		}
		f := &Subscribed{Subscription: *s.Subscription}
		e.assert(stating{Fact: f, owner: noCand, need: r.options[i]}, e.lit(ctx, r.options[i]))
	}
	for _, in := range u.installed {
		if len(in.owners) == 0 {
			e.assert(stating{Fact: &MustStay{Operator: u.ref(in.id)}, owner: in.id}, e.vars[in.id])
		}
	}
	for _, c := range e.reached {
		if f := u.barred(ctx, c); f != nil {
			e.assert(stating{Fact: f, owner: c}, e.vars[c].Not())
			continue
		}
		for _, q := range r.needs.requirements(ctx, c) {
			f := &Requires{Property: q.Property, Requirement: q.Expr}
			e.assert(stating{Fact: f, owner: c, need: q.need}, e.s.Or(e.vars[c].Not(), e.lit(ctx, q.need)))
		}
		for _, in := range r.replacedBy[c] {
			if p := u.pkg(in); p == "" || p != u.pkg(c) {
				f := &Replaced{Bundle: u.ref(c), Operator: u.ref(in)}
				e.assert(stating{Fact: f, owner: noCand, list: []cand{c, in}}, e.s.Or(e.vars[c].Not(), e.vars[in].Not()))
			}
		}
	}
	e.atMostOne()
	return e, r.interrupted(ctx)
}

// describe completes the facts with the names of what they are about. Only
// whoever explains asks for it.
func (e *encoding) describe() {
	u := e.r.u
	for _, s := range e.facts {
		switch f := s.Fact.(type) {
		case *Subscribed:
			f.Candidates = u.refs(s.need.list)
		case *Requires:
			var list []cand
			s.need.each(func(c cand) { list = append(list, c) })
			f.Bundle, f.Pos, f.Candidates = u.ref(s.owner), u.pos(s.owner), u.refs(list)
		case *OnePerPackage:
			f.Bundles = u.refs(s.list)
		case *OneProvider:
			f.Providers = u.refs(s.list)
		}
	}
}

// assert states a formula under a switch of its own.
func (e *encoding) assert(f stating, formula sat.Lit) {
	e.s.Clause(e.enable(f).Not(), formula)
}

func (e *encoding) enable(f stating) sat.Lit {
	on := e.s.Lit()
	e.facts, e.on = append(e.facts, f), append(e.on, on)
	return on
}

// reach collects every candidate that some need of something reached mentions.
func (e *encoding) reach(ctx context.Context) error {
	seen := map[cand]bool{}
	var stack []cand
	add := func(c cand) {
		if !seen[c] {
			seen[c] = true
			stack = append(stack, c)
		}
	}
	for _, in := range e.r.u.installed {
		add(in.id)
	}
	for _, n := range e.r.options {
		if n != nil {
			n.each(add)
		}
	}
	for len(stack) > 0 {
		if err := e.r.interrupted(ctx); err != nil {
			return err
		}
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, q := range e.r.needs.requirements(ctx, c) {
			q.each(add)
		}
	}
	e.reached = slices.Sorted(maps.Keys(seen))
	return nil
}

// lit returns the literal of a need. A need without negation is encoded once for
// all that state it.
func (e *encoding) lit(ctx context.Context, n *need) sat.Lit {
	if l, ok := e.lits[n]; ok {
		return l
	}
	var parts []sat.Lit
	for _, c := range n.list {
		parts = append(parts, e.vars[c])
	}
	for _, k := range n.kids {
		parts = append(parts, e.lit(ctx, k))
	}
	var l sat.Lit
	switch n.kind {
	case anyOf, some:
		l = e.s.Or(parts...)
	case every:
		l = e.s.And(parts...)
	case noneOf:
		for _, c := range e.reached {
			if e.r.u.satisfies(ctx, n.expr, c) {
				parts = append(parts, e.vars[c])
			}
		}
		l = e.s.Or(parts...).Not()
	}
	e.lits[n] = l
	return l
}

// atMostOne states that a namespace holds one bundle of a package and one
// provider of an API (D10). An API that only one package provides needs no
// statement of its own.
func (e *encoding) atMostOne() {
	u := e.r.u
	byPackage := map[string][]cand{}
	byAPI := map[property.GVK][]cand{}
	for _, c := range e.reached {
		if p := u.pkg(c); p != "" {
			byPackage[p] = append(byPackage[p], c)
		}
		for g := range u.apis(c) {
			byAPI[g] = append(byAPI[g], c)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(byPackage)) {
		if list := byPackage[p]; len(list) > 1 {
			f := &OnePerPackage{Package: p}
			e.s.AtMostOne(e.enable(stating{Fact: f, owner: noCand, list: list}), e.of(list)...)
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(byAPI), property.GVK.Compare) {
		list := byAPI[g]
		p := u.pkg(list[0])
		if p != "" && !slices.ContainsFunc(list, func(c cand) bool { return u.pkg(c) != p }) {
			continue
		}
		f := &OneProvider{API: g}
		e.s.AtMostOne(e.enable(stating{Fact: f, owner: noCand, list: list}), e.of(list)...)
	}
}

func (e *encoding) of(list []cand) []sat.Lit {
	out := make([]sat.Lit, len(list))
	for i, c := range list {
		out[i] = e.vars[c]
	}
	return out
}

// choice turns a need into the solver's choice between literals.
func (e *encoding) choice(ctx context.Context, n *need) sat.Choice {
	if n.kind == anyOf {
		return sat.Choice{Options: e.of(n.list)}
	}
	out := sat.Choice{Met: func(chosen func(sat.Lit) bool) bool {
		return n.decided(func(c cand) bool { return chosen(e.vars[c]) })
	}}
	for _, k := range n.kids {
		l := e.lit(ctx, k)
		e.needOf[l] = k
		out.Options = append(out.Options, l)
	}
	return out
}

func (e *encoding) choices(ctx context.Context, list []*need) []sat.Choice {
	out := make([]sat.Choice, len(list))
	for i, n := range list {
		out[i] = e.choice(ctx, n)
	}
	return out
}

// search returns the set that is best by preference under the given switches,
// for the subscriptions that take part; ok is false when there is none.
func (e *encoding) search(ctx context.Context, on []sat.Lit, takesPart func(sub int) bool) (set []cand, ok bool, err error) {
	hard := slices.Clone(on)
	var queue []sat.Choice
	for i, n := range e.r.options {
		if takesPart(i) {
			queue = append(queue, e.choice(ctx, n))
		}
	}
	after := func(l sat.Lit) []sat.Choice {
		if c, ok := e.cands[l]; ok {
			var out []sat.Choice
			for _, q := range e.r.needs.requirements(ctx, c) {
				out = append(out, e.choices(ctx, q.choices())...)
			}
			return out
		}
		return e.choices(ctx, e.needOf[l].choices())
	}
	for i, f := range e.facts {
		if _, ok := f.Fact.(*MustStay); ok && slices.Contains(on, e.on[i]) {
			l := e.vars[f.owner]
			hard = append(hard, l)
			set = append(set, f.owner)
			queue = append(queue, after(l)...)
		}
	}
	chosen, ok, err := e.s.Prefer(ctx, hard, queue, after)
	if !ok || err != nil {
		return nil, ok, err
	}
	for _, l := range chosen {
		if c, ok := e.cands[l]; ok && !slices.Contains(set, c) {
			set = append(set, c)
		}
	}
	return set, true, nil
}

// cores returns minimal sets of facts that cannot all hold, as numbers of facts
// in order. The sets are independent: no two share a subscription or an
// operator that must stay, so that each has to be resolved by itself.
func (e *encoding) cores(ctx context.Context) ([][]int, error) {
	e.describe()
	on := slices.Clone(e.on)
	e.found = nil
	for {
		core, err := e.s.MinimalCore(ctx, on)
		if err != nil || core == nil {
			return e.found, err
		}
		var facts []int
		for i, l := range e.on {
			if slices.Contains(core, l) {
				facts = append(facts, i)
			}
		}
		e.found = append(e.found, facts)
		for _, i := range facts {
			if isRequest(e.facts[i].Fact) {
				on = slices.DeleteFunc(on, func(l sat.Lit) bool { return l == e.on[i] })
			}
		}
	}
}

// isRequest reports whether a fact asks for something, so that without all such
// facts the empty set is a solution.
func isRequest(f Fact) bool {
	switch f.(type) {
	case *Subscribed, *Unavailable, *MustStay:
		return true
	}
	return false
}
