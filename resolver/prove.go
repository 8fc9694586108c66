package resolver

import (
	"context"
	"errors"
	"slices"
)

// A claim is a step of a proof: that a class of candidates must be chosen from,
// or cannot be, or that the facts contradict each other.
type claim struct {
	kind  claimKind
	class int // of chosen and excluded
	// rule is the number of the rule that makes it, or one of the constants.
	rule    int
	because []*claim
	// part is what no candidate of the core meets, for unmet.
	part *formula
	// crowding is what asks for too much, for a contradiction by counting.
	crowding *crowding
}

type claimKind int

const (
	contradiction claimKind = iota
	chosen
	excluded
	// supposed: assumed, to be refuted.
	supposed
	// unmet: nothing at all meets a part of a requirement.
	unmet
)

const (
	// supposition marks what is supposed, and what was refuted by supposing it.
	supposition = -1
	// preference marks what was chosen before, by preference.
	preference = -2
)

// maxProof bounds the work of one proof, in looks at a candidate in a fact. A
// proof that is longer is nothing that a person would read.
const maxProof = 2_000_000

// errTooLong says that a proof was given up.
var errTooLong = errors.New("the proof is too long")

// A prover derives the contradiction of a core by following its rules: what must
// be chosen, what is therefore excluded, until nothing is left. Where rules
// leave several ways open it counts whether there is room for all (crowded.go), or
// else supposes one way after the other and refutes each.
// Cores are unsatisfiable, so it always gets there, if it is let.
type prover struct {
	*quotient
	ctx   context.Context
	known []*claim // of each class
	work  *int     // that is left
}

// prove returns the contradiction that follows from facts, from what was chosen
// before, and from supposing one more candidate, if it is not noCand. The claim
// is nil when there is none. The error is the context's, or errTooLong.
func (e *encoding) prove(ctx context.Context, core []int, before []cand, suppose cand) (*quotient, *claim, error) {
	return e.proveWithin(ctx, maxProof, core, before, suppose)
}

func (e *encoding) proveWithin(ctx context.Context, work int, core []int, before []cand, suppose cand) (*quotient, *claim, error) {
	apart := slices.Clone(before)
	if suppose != noCand {
		apart = append(apart, suppose)
	}
	q := e.quotient(ctx, core, apart)
	p := &prover{quotient: q, ctx: ctx, known: make([]*claim, len(q.classes)), work: &work}
	for _, c := range before {
		if n, ok := q.of[c]; ok {
			p.known[n] = &claim{kind: chosen, class: n, rule: preference}
		}
	}
	if n, ok := q.of[suppose]; ok {
		p.known[n] = &claim{kind: supposed, class: n, rule: supposition}
	}
	end, err := p.refute()
	if err == nil {
		err = e.r.interrupted(ctx)
	}
	return q, end, err
}

// refute follows the rules until they contradict each other.
func (p *prover) refute() (*claim, error) {
	for {
		if *p.work <= 0 {
			return nil, errTooLong
		}
		if p.ctx.Err() != nil {
			return nil, context.Cause(p.ctx)
		}
		// What is excluded comes first: a subscription of which every candidate is
		// excluded says more than a candidate that is forced and then fails.
		if end, progress := p.pass((*prover).exclude); end != nil {
			return end, nil
		} else if progress {
			continue
		}
		if end, progress := p.pass((*prover).demand); end != nil {
			return end, nil
		} else if progress {
			continue
		}
		if end := p.count(); end != nil {
			return end, nil
		}
		c := p.open()
		if c == noClass {
			return nil, nil // not a core
		}
		// Suppose it, refute it, and go on knowing that it is excluded.
		*p.work -= len(p.known)
		try := *p
		try.known = slices.Clone(p.known)
		try.known[c] = &claim{kind: supposed, class: c, rule: supposition}
		end, err := try.refute()
		if end == nil {
			return nil, err
		}
		p.known[c] = &claim{kind: excluded, class: c, rule: supposition, because: []*claim{end}}
	}
}

// open returns a class that is still possible, of the requirement that leaves
// fewest, or noClass.
func (p *prover) open() int {
	best, fewest := noClass, 0
	for i := range p.rules {
		r := &p.rules[i]
		if r.need == nil || r.owner != noClass && !p.is(r.owner) {
			continue
		}
		first, left := noClass, 0
		met := false
		r.need.each(func(c int) {
			*p.work--
			met = met || p.is(c)
			if p.known[c] == nil {
				if left++; left == 1 {
					first = c
				}
			}
		})
		if (r.need.kind != anyOf || !met) && left > 0 && (best == noClass || left < fewest) {
			best, fewest = first, left
		}
	}
	if best == noClass {
		best = slices.Index(p.known, nil)
	}
	return best
}

// is reports whether a class is known, or supposed, to be chosen from.
func (p *prover) is(c int) bool {
	k := p.known[c]
	return k != nil && k.kind != excluded
}

// not reports whether a class is known to be excluded.
func (p *prover) not(c int) bool {
	k := p.known[c]
	return k != nil && k.kind == excluded
}

// pass applies an inference to every rule in order, until it makes progress.
func (p *prover) pass(infer func(*prover, int) (*claim, bool)) (end *claim, progress bool) {
	for i := range p.rules {
		*p.work--
		if end, progress := infer(p, i); end != nil || progress {
			return end, true
		}
	}
	return nil, false
}

// exclude draws from one rule what cannot be chosen, and what stays; end is the
// contradiction it leads to.
func (p *prover) exclude(i int) (end *claim, progress bool) {
	r := &p.rules[i]
	switch r.Fact.(type) {
	case *Unavailable:
		return &claim{kind: contradiction, rule: i}, true
	case *MustStay:
		return p.learn(chosen, r.owner, i, nil)
	case *Prohibited, *Unusable, *Ruled, *InstallMode:
		return p.learn(excluded, r.owner, i, nil)
	case *OnePerPackage, *OneProvider, *Replaced:
		return p.exclusive(r, i)
	}
	if r.owner != noClass && p.not(r.owner) {
		return nil, false
	}
	no, why := p.refuted(r.need)
	if !no {
		return nil, false
	}
	if r.owner != noClass && !p.is(r.owner) {
		return p.learn(excluded, r.owner, i, why)
	}
	return &claim{kind: contradiction, rule: i, because: append(p.premise(r), why...)}, true
}

// demand draws from one rule what must be chosen.
func (p *prover) demand(i int) (end *claim, progress bool) {
	r := &p.rules[i]
	if r.need == nil || r.owner != noClass && !p.is(r.owner) {
		return nil, false
	}
	return p.force(r.need, i, p.premise(r))
}

// premise returns the claim that the owner of a rule is chosen, if it has one.
func (p *prover) premise(r *rule) []*claim {
	if r.owner == noClass {
		return nil
	}
	return []*claim{p.known[r.owner]}
}

// exclusive follows a rule that allows one of a list.
func (p *prover) exclusive(r *rule, i int) (end *claim, progress bool) {
	*p.work -= len(r.list)
	at := slices.IndexFunc(r.list, p.is)
	if at < 0 {
		return nil, false
	}
	only := p.known[r.list[at]]
	for _, c := range r.list {
		if c == r.list[at] {
			continue
		}
		if p.is(c) {
			return &claim{kind: contradiction, rule: i, because: []*claim{only, p.known[c]}}, true
		}
		if p.known[c] == nil {
			_, learned := p.learn(excluded, c, i, []*claim{only})
			progress = progress || learned
		}
	}
	return nil, progress
}

// learn adds a conclusion, or reports that it contradicts what is known.
func (p *prover) learn(kind claimKind, c, rule int, because []*claim) (end *claim, progress bool) {
	k := p.known[c]
	made := &claim{kind: kind, class: c, rule: rule, because: because}
	switch {
	case k == nil:
		p.known[c] = made
		return nil, true
	case (k.kind == excluded) == (kind == excluded):
		return nil, false
	case kind == excluded:
		return &claim{kind: contradiction, rule: rule, because: append(slices.Clip(because), k)}, true
	}
	return &claim{kind: contradiction, rule: rule, because: append([]*claim{k}, because...)}, true
}

// refuted reports whether a formula is known not to hold, and the claims that
// show it.
func (p *prover) refuted(n *formula) (bool, []*claim) {
	var why []*claim
	*p.work -= len(n.classes)
	switch n.kind {
	case anyOf:
		if len(n.classes) == 0 {
			return true, []*claim{{kind: unmet, part: n}}
		}
		for _, c := range n.classes {
			if !p.not(c) {
				return false, nil
			}
		}
		for _, c := range n.classes {
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
		for _, c := range n.classes {
			if p.is(c) {
				return true, []*claim{p.known[c]}
			}
		}
	}
	return false, nil
}

// force draws the conclusions of a formula that must hold and is not refuted.
func (p *prover) force(n *formula, rule int, because []*claim) (end *claim, progress bool) {
	*p.work -= len(n.classes)
	switch n.kind {
	case anyOf:
		last, why := noClass, slices.Clip(because)
		for _, c := range n.classes {
			switch {
			case p.is(c):
				return nil, false
			case p.not(c):
				why = append(why, p.known[c])
			case last != noClass:
				return nil, false
			default:
				last = c
			}
		}
		if last == noClass {
			return nil, false
		}
		return p.learn(chosen, last, rule, why)
	case every:
		for _, k := range n.kids {
			e, did := p.force(k, rule, because)
			if e != nil {
				return e, true
			}
			progress = progress || did
		}
	case some:
		var last *formula
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
			return p.force(last, rule, why)
		}
	case noneOf:
		for _, c := range n.classes {
			if p.known[c] == nil {
				e, did := p.learn(excluded, c, rule, because)
				if e != nil {
					return e, true
				}
				progress = progress || did
			}
		}
	}
	return nil, progress
}
