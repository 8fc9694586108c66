package resolver

import (
	"context"
	"slices"
)

// A claim is a step of a proof: that a candidate must be chosen, or cannot be,
// or that the facts contradict each other.
type claim struct {
	kind claimKind
	cand cand // of chosen and excluded
	// fact is the number of the stating that makes it, or one of the constants.
	fact    int
	because []*claim
}

type claimKind int

const (
	contradiction claimKind = iota
	chosen
	excluded
	// supposed: assumed, to be refuted.
	supposed
)

const (
	// supposition marks what is supposed, and what was refuted by supposing it.
	supposition = -1
	// preference marks what was chosen before, by preference.
	preference = -2
)

// A prover derives the contradiction of a core by following its facts: what must
// be chosen, what is therefore excluded, until nothing is left. Where facts
// leave several ways open it supposes one after the other and refutes each.
// Cores are unsatisfiable, so it always gets there.
type prover struct {
	ctx   context.Context
	e     *encoding
	facts []int
	known map[cand]*claim
	cands []cand // that the facts mention, in canonical order
}

// prove returns the contradiction that follows from facts, from what was chosen
// before, and from supposing one more candidate, if it is not noCand. It
// returns nil when there is none.
func (e *encoding) prove(ctx context.Context, core []int, before []cand, suppose cand) *claim {
	p := &prover{ctx: ctx, e: e, facts: core, known: map[cand]*claim{}}
	for _, c := range before {
		p.known[c] = &claim{kind: chosen, cand: c, fact: preference}
	}
	if suppose != noCand {
		p.known[suppose] = &claim{kind: supposed, cand: suppose, fact: supposition}
	}
	seen := map[cand]bool{}
	add := func(c cand) {
		if c != noCand && !seen[c] {
			seen[c] = true
			p.cands = append(p.cands, c)
		}
	}
	for _, i := range core {
		f := e.facts[i]
		add(f.owner)
		for _, c := range f.list {
			add(c)
		}
		if f.need != nil {
			f.need.each(add)
			e.eachForbidden(ctx, f.need, add)
		}
	}
	slices.Sort(p.cands)
	return p.refute()
}

// refute follows the facts until they contradict each other.
func (p *prover) refute() *claim {
	for {
		// What is excluded comes first: a subscription of which every candidate is
		// excluded says more than a candidate that is forced and then fails.
		if end, progress := p.pass((*prover).exclude); end != nil {
			return end
		} else if progress {
			continue
		}
		if end, progress := p.pass((*prover).demand); end != nil {
			return end
		} else if progress {
			continue
		}
		c := p.open()
		if c == noCand {
			return nil // not a core
		}
		// Suppose it, refute it, and go on knowing that it is excluded.
		try := *p
		try.known = map[cand]*claim{}
		for k, v := range p.known {
			try.known[k] = v
		}
		try.known[c] = &claim{kind: supposed, cand: c, fact: supposition}
		end := try.refute()
		if end == nil {
			return nil
		}
		p.known[c] = &claim{kind: excluded, cand: c, fact: supposition, because: []*claim{end}}
	}
}

// open returns a candidate that is still possible, the one with fewest rivals,
// or noCand.
func (p *prover) open() cand {
	best, fewest := noCand, 0
	for _, i := range p.facts {
		f := p.e.facts[i]
		if f.need == nil || f.owner != noCand && !p.is(f.owner) {
			continue
		}
		var left []cand
		met := false
		f.need.each(func(c cand) {
			met = met || p.is(c)
			if p.known[c] == nil {
				left = append(left, c)
			}
		})
		if (f.need.kind != anyOf || !met) && len(left) > 0 && (best == noCand || len(left) < fewest) {
			best, fewest = left[0], len(left)
		}
	}
	if best == noCand {
		for _, c := range p.cands {
			if p.known[c] == nil {
				return c
			}
		}
	}
	return best
}

// is reports whether a candidate is known, or supposed, to be chosen.
func (p *prover) is(c cand) bool {
	k := p.known[c]
	return k != nil && k.kind != excluded
}

// not reports whether a candidate is known to be excluded.
func (p *prover) not(c cand) bool {
	k := p.known[c]
	return k != nil && k.kind == excluded
}

// pass applies a rule to every fact in order, until one of them makes progress.
func (p *prover) pass(rule func(*prover, int) (*claim, bool)) (end *claim, progress bool) {
	for _, i := range p.facts {
		if end, progress := rule(p, i); end != nil || progress {
			return end, true
		}
	}
	return nil, false
}

// exclude draws from one fact what cannot be chosen, and what stays; end is the
// contradiction it leads to.
func (p *prover) exclude(i int) (end *claim, progress bool) {
	f := p.e.facts[i]
	switch f.Fact.(type) {
	case *Unavailable:
		return &claim{kind: contradiction, fact: i}, true
	case *MustStay:
		return p.learn(chosen, f.owner, i, nil)
	case *Prohibited, *Unusable, *Ruled:
		return p.learn(excluded, f.owner, i, nil)
	case *OnePerPackage, *OneProvider, *Replaced:
		return p.exclusive(f, i)
	}
	if f.owner != noCand && p.not(f.owner) {
		return nil, false
	}
	no, why := p.refuted(f.need)
	if !no {
		return nil, false
	}
	if f.owner != noCand && !p.is(f.owner) {
		return p.learn(excluded, f.owner, i, why)
	}
	return &claim{kind: contradiction, fact: i, because: append(p.premise(f), why...)}, true
}

// demand draws from one fact what must be chosen.
func (p *prover) demand(i int) (end *claim, progress bool) {
	f := p.e.facts[i]
	if f.need == nil || f.owner != noCand && !p.is(f.owner) {
		return nil, false
	}
	return p.force(f.need, i, p.premise(f))
}

// premise returns the claim that the owner of a fact is chosen, if it has one.
func (p *prover) premise(f stating) []*claim {
	if f.owner == noCand {
		return nil
	}
	return []*claim{p.known[f.owner]}
}

// exclusive follows a fact that allows one of a list.
func (p *prover) exclusive(f stating, i int) (end *claim, progress bool) {
	at := slices.IndexFunc(f.list, p.is)
	if at < 0 {
		return nil, false
	}
	only := p.known[f.list[at]]
	for _, c := range f.list {
		if c == f.list[at] {
			continue
		}
		if p.is(c) {
			return &claim{kind: contradiction, fact: i, because: []*claim{only, p.known[c]}}, true
		}
		if p.known[c] == nil {
			_, learned := p.learn(excluded, c, i, []*claim{only})
			progress = progress || learned
		}
	}
	return nil, progress
}

// learn adds a conclusion, or reports that it contradicts what is known.
func (p *prover) learn(kind claimKind, c cand, fact int, because []*claim) (end *claim, progress bool) {
	k := p.known[c]
	made := &claim{kind: kind, cand: c, fact: fact, because: because}
	switch {
	case k == nil:
		p.known[c] = made
		return nil, true
	case (k.kind == excluded) == (kind == excluded):
		return nil, false
	case kind == excluded:
		return &claim{kind: contradiction, fact: fact, because: append(slices.Clip(because), k)}, true
	}
	return &claim{kind: contradiction, fact: fact, because: append([]*claim{k}, because...)}, true
}

// refuted reports whether a need is known not to hold, and the claims that show
// it.
func (p *prover) refuted(n *need) (bool, []*claim) {
	var why []*claim
	switch n.kind {
	case anyOf:
		for _, c := range n.list {
			if !p.not(c) {
				return false, nil
			}
			why = append(why, p.known[c])
		}
		return true, why
	case some:
		for _, k := range n.kids {
			no, w := p.refuted(k)
			if !no {
				return false, nil
			}
			why = append(why, w...)
		}
		return true, why
	case every:
		for _, k := range n.kids {
			if no, w := p.refuted(k); no {
				return true, w
			}
		}
	case noneOf:
		for _, c := range p.cands {
			if p.is(c) && p.e.r.u.satisfies(p.ctx, n.expr, c) {
				return true, []*claim{p.known[c]}
			}
		}
	}
	return false, nil
}

// force draws the conclusions of a need that must hold.
func (p *prover) force(n *need, fact int, because []*claim) (end *claim, progress bool) {
	switch n.kind {
	case anyOf:
		last, why := noCand, slices.Clip(because)
		for _, c := range n.list {
			switch {
			case p.is(c):
				return nil, false
			case p.not(c):
				why = append(why, p.known[c])
			case last != noCand:
				return nil, false
			default:
				last = c
			}
		}
		return p.learn(chosen, last, fact, why)
	case every:
		for _, k := range n.kids {
			e, did := p.force(k, fact, because)
			if e != nil {
				return e, true
			}
			progress = progress || did
		}
	case some:
		var last *need
		why := slices.Clip(because)
		for _, k := range n.kids {
			no, w := p.refuted(k)
			switch {
			case no:
				why = append(why, w...)
			case last != nil:
				return nil, false
			default:
				last = k
			}
		}
		if last != nil {
			return p.force(last, fact, why)
		}
	case noneOf:
		for _, c := range p.cands {
			if p.known[c] == nil && p.e.r.u.satisfies(p.ctx, n.expr, c) {
				e, did := p.learn(excluded, c, fact, because)
				if e != nil {
					return e, true
				}
				progress = progress || did
			}
		}
	}
	return nil, progress
}
