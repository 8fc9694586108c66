package resolver

import (
	"context"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/sat"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/fact"
)

// An encoding is a problem as clauses. Each fact has a separate switch, even if two have
// the same formula: a set of switches that cannot all be on is a conflict of facts.
type encoding struct {
	r        *resolution
	s        *sat.Solver
	reached  []cand // in canonical order
	vars     map[cand]sat.Lit
	cands    map[sat.Lit]cand
	lits     map[*need]sat.Lit
	wants    map[*need][]sat.Lit // the options of each anyOf
	needOf   map[sat.Lit]*need   // the part of a some that each option stands for
	facts    []stating
	on       []sat.Lit // on[i] is the switch of facts[i]
	refs     map[*need][]Ref
	coreOf   map[int]int // the index of the core that each request belongs to, if any
	likes    map[likeness]int
	narrator *prose.Narrator
}

// A stating is a fact together with its meaning for candidates. The solver gets this as
// clauses, and proofs follow it without the solver.
type stating struct {
	fact.Fact
	// owner is the candidate that the fact restricts, or noCand.
	owner cand
	// need must hold if owner is chosen, or always if owner is noCand.
	need *need
	// list holds candidates of which at most one can be chosen.
	list []cand
}

const noCand cand = -1

func (r *resolution) newEncoding(reached []cand) *encoding {
	e := &encoding{
		r: r, s: sat.New(5*len(reached)/2, 4*len(reached)), reached: reached, vars: map[cand]sat.Lit{}, cands: map[sat.Lit]cand{},
		lits: map[*need]sat.Lit{}, wants: map[*need][]sat.Lit{}, needOf: map[sat.Lit]*need{}, refs: map[*need][]Ref{},
		likes: map[likeness]int{}, narrator: prose.NewNarrator(r.u),
	}
	for _, c := range reached {
		l := e.s.Lit()
		e.vars[c], e.cands[l] = l, c
	}
	return e
}

// encode encodes everything that was reached (D1, D2).
func (r *resolution) encode(ctx context.Context) (*encoding, error) {
	reached, err := r.reach(ctx)
	if err != nil {
		return nil, err
	}
	e, u := r.newEncoding(reached), r.u
	for i, s := range u.subs {
		if err := r.interrupted(ctx); err != nil {
			return nil, err
		}
		if missing := r.missing[i]; missing != nil {
			e.state(ctx, stating{Fact: missing, owner: noCand})
			continue
		}
		e.state(ctx, stating{Fact: &fact.Subscribed{Subscription: *s.Subscription}, owner: noCand, need: r.options[i]})
	}
	for _, in := range u.installed { // D11
		if len(in.owners) == 0 {
			e.state(ctx, stating{Fact: &fact.MustStay{Operator: u.ref(in.id), Held: in.Held}, owner: in.id})
		}
	}
	for _, c := range e.reached {
		if err := r.interrupted(ctx); err != nil {
			return nil, err
		}
		if f := u.barred(ctx, c); f != nil {
			e.state(ctx, stating{Fact: f, owner: c})
			continue
		}
		// While an installed operator stays, its requirements must hold (D13).
		for _, q := range r.needs.requirements(ctx, c) {
			e.state(ctx, stating{Fact: &fact.Requires{Property: q.Property, Requirement: q.Expr}, owner: c, need: q.need})
		}
		for _, in := range r.replacedBy[c] {
			if !u.inPackage(in, u.pkg(c)) {
				f := &fact.Replaced{Bundle: u.ref(c), Operator: u.ref(in)}
				e.state(ctx, stating{Fact: f, owner: noCand, list: []cand{c, in}})
			}
		}
	}
	e.atMostOne(ctx)
	e.common(ctx)
	return e, r.interrupted(ctx)
}

// describe completes facts with the names that only explanations need.
func (e *encoding) describe(facts []int) {
	u := e.r.u
	for _, i := range facts {
		s := e.facts[i]
		switch f := s.Fact.(type) {
		case *fact.Subscribed:
			f.Candidates = e.mentions(s.need)
		case *fact.Requires:
			f.Bundle, f.Pos, f.Candidates = u.ref(s.owner), u.pos(s.owner), e.mentions(s.need)
		case *fact.OnePerPackage:
			f.Bundles = u.refs(s.list)
		case *fact.OneProvider:
			f.Providers = u.refs(s.list)
		case *fact.PolicyBlocked:
			u.describePin(f)
		}
	}
}

// mentions returns the names of the candidates of a need. All facts that state the need
// share the list.
func (e *encoding) mentions(n *need) []Ref {
	refs, ok := e.refs[n]
	if !ok {
		var list []cand
		n.each(func(c cand) { list = append(list, c) })
		refs = slices.Clip(e.r.u.refs(list))
		e.refs[n] = refs
	}
	return refs
}

// state adds a fact under a new switch.
func (e *encoding) state(ctx context.Context, f stating) {
	on := e.s.Lit()
	e.facts, e.on = append(e.facts, f), append(e.on, on)
	_, stays := f.Fact.(*fact.MustStay)
	switch {
	case f.list != nil:
		e.s.AtMostOne(on, e.of(f.list)...)
	case f.need != nil && f.owner == noCand:
		e.s.Clause(on.Not(), e.lit(ctx, f.need))
		e.demand(f.need, on)
	case f.need != nil:
		owner := e.vars[f.owner]
		e.s.Clause(on.Not(), owner.Not(), e.lit(ctx, f.need))
		e.demand(f.need, on, owner)
	case stays:
		e.s.Clause(on.Not(), e.vars[f.owner])
		e.s.Demand([]sat.Lit{on}, []sat.Lit{e.vars[f.owner]})
	case f.owner != noCand:
		e.s.Clause(on.Not(), e.vars[f.owner].Not())
		e.s.Demand([]sat.Lit{on, e.vars[f.owner]}, nil)
	default: // the request names something that does not exist
		e.s.Clause(on.Not())
	}
}

// demand reports a need to the solver as a demand that applies while all of when hold.
// The solver counts demands to decide what to try first.
func (e *encoding) demand(n *need, when ...sat.Lit) {
	switch n.kind {
	case proof.AnyOf:
		e.s.Demand(when, e.options(n))
	case proof.Every:
		for _, k := range n.kids {
			e.demand(k, when...)
		}
	}
}

// reach returns the candidates that subscriptions and installed operators mention, directly
// or through requirements.
func (r *resolution) reach(ctx context.Context) ([]cand, error) {
	seen, needs := map[cand]bool{}, map[*need]bool{}
	var stack []cand
	add := func(c cand) {
		if !seen[c] {
			seen[c] = true
			stack = append(stack, c)
		}
	}
	for _, in := range r.u.installed {
		add(in.id)
	}
	for _, n := range r.options {
		if n != nil {
			n.eachNew(needs, add)
		}
	}
	for len(stack) > 0 {
		if err := r.interrupted(ctx); err != nil {
			return nil, err
		}
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, q := range r.needs.requirements(ctx, c) {
			q.eachNew(needs, add)
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// isReached reports whether a candidate takes part.
func (e *encoding) isReached(c cand) bool {
	_, ok := e.vars[c]
	return ok
}

// lit returns the literal of a need. Each need is encoded once.
func (e *encoding) lit(ctx context.Context, n *need) sat.Lit {
	if l, ok := e.lits[n]; ok {
		return l
	}
	var parts []sat.Lit
	if n.kind == proof.AnyOf {
		parts = e.of(n.list)
	}
	for _, k := range n.kids {
		parts = append(parts, e.lit(ctx, k))
	}
	var l sat.Lit
	switch n.kind {
	case proof.AnyOf, proof.Some:
		l = e.s.Or(parts...)
	case proof.Every:
		l = e.s.And(parts...)
	case proof.NoneOf:
		for _, c := range e.r.u.among(ctx, n.expr, e.reached, e.isReached) {
			parts = append(parts, e.vars[c])
		}
		l = e.s.Or(parts...).Not()
	}
	e.lits[n] = l
	return l
}

// atMostOne states that a namespace holds one bundle of a package and one
// provider of an API (D10). An API that only one package provides needs no separate
// fact.
func (e *encoding) atMostOne(ctx context.Context) {
	u := e.r.u
	byPackage := map[string][]cand{}
	byAPI := map[property.GVK][]cand{}
	for _, c := range e.reached {
		if p := u.pkg(c); p != "" {
			byPackage[p] = append(byPackage[p], c)
		}
		for _, p := range u.further(c) {
			byPackage[p] = append(byPackage[p], c)
		}
		for g := range u.apis(c) {
			byAPI[g] = append(byAPI[g], c)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(byPackage)) {
		if list := byPackage[p]; len(list) > 1 {
			e.state(ctx, stating{Fact: &fact.OnePerPackage{Package: p}, owner: noCand, list: list})
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(byAPI), property.GVK.Compare) {
		list := byAPI[g]
		p := u.pkg(list[0])
		if p != "" && !slices.ContainsFunc(list, func(c cand) bool { return !u.inPackage(c, p) }) {
			continue
		}
		e.state(ctx, stating{Fact: &fact.OneProvider{API: g}, owner: noCand, list: list})
	}
}

func (e *encoding) of(list []cand) []sat.Lit {
	out := make([]sat.Lit, len(list))
	for i, c := range list {
		out[i] = e.vars[c]
	}
	return out
}

// options returns the literals of an anyOf. It is the same slice each time, which the solver
// examines once for all facts that share it.
func (e *encoding) options(n *need) []sat.Lit {
	list, ok := e.wants[n]
	if !ok {
		list = e.of(n.list)
		e.wants[n] = list
	}
	return list
}

// choice turns a need into the solver's choice between literals.
func (e *encoding) choice(ctx context.Context, n *need) sat.Choice {
	if n.kind == proof.AnyOf {
		return sat.Choice{Options: e.options(n)}
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

// search returns the most preferred set under the given switches, for the subscriptions
// that take part. ok is false if there is none.
func (e *encoding) search(ctx context.Context, on []sat.Lit, takesPart func(sub int) bool) (set []cand, ok bool, err error) {
	hard := slices.Clone(on)
	isOn := make(map[sat.Lit]bool, len(on))
	for _, l := range on {
		isOn[l] = true
	}
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
		if _, ok := f.Fact.(*fact.MustStay); ok && isOn[e.on[i]] {
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
	in := make(map[cand]bool, len(set)+len(chosen))
	for _, c := range set {
		in[c] = true
	}
	for _, l := range chosen {
		if c, ok := e.cands[l]; ok && !in[c] {
			in[c] = true
			set = append(set, c)
		}
	}
	return set, true, nil
}

// isRequest reports whether a fact requests something. Without such facts, the empty set
// is a solution.
func isRequest(f fact.Fact) bool {
	switch f.(type) {
	case *fact.Subscribed, *fact.Unavailable, *fact.MustStay:
		return true
	}
	return false
}

// A likeness is what a fact states about its owner, in a form that can be a map key.
// Facts with equal likenesses differ only in their owners.
type likeness struct {
	code   fact.Code
	expr   int
	policy Policy
	err    string // part of the sentence
	fact   int    // the index of a fact that is not like any other
}

// like returns a number for fact i. Facts that state the same thing about their owners
// have the same number.
func (e *encoding) like(i int) int {
	l := likeness{code: e.facts[i].Code()}
	switch f := e.facts[i].Fact.(type) {
	case *fact.Requires:
		l.expr = e.r.u.exprs.number(f.Requirement)
	case *fact.Prohibited:
	case *fact.Unusable:
		l.err = f.Err.Error()
	case *fact.PolicyBlocked:
		l.policy = f.Policy
	case *fact.InstallMode:
		l.err = f.Err.Error()
	default:
		l.fact = i
	}
	n, ok := e.likes[l]
	if !ok {
		n = len(e.likes) + 1
		e.likes[l] = n
	}
	return n
}
