package proof

import (
	"context"
	"errors"
	"slices"
)

// ErrTooLong means that a proof needs more work than allowed.
var ErrTooLong = errors.New("the proof is too long")

// A prover derives the contradiction of a core by following its rules: what must be chosen,
// what is therefore excluded, until nothing is left. If the rules leave several options
// open, it counts whether there is room for all demands (count.go), or else supposes one
// option after another and refutes each. Cores are unsatisfiable, so it always succeeds
// unless it runs out of work.
type prover struct {
	ctx   context.Context
	rules []Rule
	known []*Claim // of each class
	work  *int     // work left
}

// Prove returns the contradiction that follows from rules if the classes in before were
// chosen by preference and, unless suppose is NoClass, that class is supposed to be chosen as
// well. It returns nil if there is no contradiction. classes is the number of classes. work
// limits the effort, counted in examined rules and classes. The error is the context's, or
// [ErrTooLong].
func Prove(ctx context.Context, rules []Rule, classes int, before []int, suppose, work int) (*Claim, error) {
	p := &prover{ctx: ctx, rules: rules, known: make([]*Claim, classes), work: &work}
	for _, c := range before {
		p.known[c] = &Claim{Kind: Chosen, Class: c, Rule: Preference}
	}
	if suppose != NoClass {
		p.known[suppose] = &Claim{Kind: Supposed, Class: suppose, Rule: Supposition}
	}
	return p.refute()
}

// refute follows the rules until they contradict each other.
func (p *prover) refute() (*Claim, error) {
	for {
		if *p.work <= 0 {
			return nil, ErrTooLong
		}
		if p.ctx.Err() != nil {
			return nil, context.Cause(p.ctx)
		}
		// Exclusions come first: a subscription whose candidates are all excluded is a better
		// explanation than a candidate that is forced and then fails.
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
		if c == NoClass {
			return nil, nil // not a core
		}
		// Suppose that c is chosen, refute that, and continue with c excluded.
		*p.work -= len(p.known)
		try := *p
		try.known = slices.Clone(p.known)
		try.known[c] = &Claim{Kind: Supposed, Class: c, Rule: Supposition}
		end, err := try.refute()
		if end == nil {
			return nil, err
		}
		p.known[c] = &Claim{Kind: Excluded, Class: c, Rule: Supposition, Because: []*Claim{end}}
	}
}

// open returns a possible class of the requirement with the fewest possible classes, or
// NoClass.
func (p *prover) open() int {
	best, fewest := NoClass, 0
	for i := range p.rules {
		r := &p.rules[i]
		if r.Need == nil || r.Owner != NoClass && !p.is(r.Owner) {
			continue
		}
		first, left := NoClass, 0
		met := false
		r.Need.each(func(c int) {
			*p.work--
			met = met || p.is(c)
			if p.known[c] == nil {
				if left++; left == 1 {
					first = c
				}
			}
		})
		if (r.Need.Op != AnyOf || !met) && left > 0 && (best == NoClass || left < fewest) {
			best, fewest = first, left
		}
	}
	if best == NoClass {
		best = slices.Index(p.known, nil)
	}
	return best
}

// is reports whether a class is known, or supposed, to be chosen from.
func (p *prover) is(c int) bool {
	k := p.known[c]
	return k != nil && k.Kind != Excluded
}

// not reports whether a class is known to be excluded.
func (p *prover) not(c int) bool {
	k := p.known[c]
	return k != nil && k.Kind == Excluded
}

// pass applies an inference to each rule in order, until one makes progress.
func (p *prover) pass(infer func(*prover, int) (*Claim, bool)) (end *Claim, progress bool) {
	for i := range p.rules {
		*p.work--
		if end, progress := infer(p, i); end != nil || progress {
			return end, true
		}
	}
	return nil, false
}

// exclude infers from rule i which classes cannot be chosen or, if the rule is Required, that
// its owner is. end is the contradiction that this leads to, if any.
func (p *prover) exclude(i int) (end *Claim, progress bool) {
	r := &p.rules[i]
	switch r.Kind {
	case Impossible:
		return &Claim{Kind: Contradiction, Rule: i}, true
	case Required:
		return p.learn(Chosen, r.Owner, i, nil)
	case Forbidden:
		return p.learn(Excluded, r.Owner, i, nil)
	case Exclusive:
		return p.exclusive(r, i)
	}
	if r.Owner != NoClass && p.not(r.Owner) {
		return nil, false
	}
	no, why := p.refuted(r.Need)
	if !no {
		return nil, false
	}
	if r.Owner != NoClass && !p.is(r.Owner) {
		return p.learn(Excluded, r.Owner, i, why)
	}
	return &Claim{Kind: Contradiction, Rule: i, Because: append(p.premise(r), why...)}, true
}

// demand infers from rule i what must be chosen.
func (p *prover) demand(i int) (end *Claim, progress bool) {
	r := &p.rules[i]
	if r.Need == nil || r.Owner != NoClass && !p.is(r.Owner) {
		return nil, false
	}
	return p.force(r.Need, i, p.premise(r))
}

// premise returns the claim that the owner of a rule is chosen, if it has one.
func (p *prover) premise(r *Rule) []*Claim {
	if r.Owner == NoClass {
		return nil
	}
	return []*Claim{p.known[r.Owner]}
}

// exclusive applies a rule that allows only one of a list.
func (p *prover) exclusive(r *Rule, i int) (end *Claim, progress bool) {
	*p.work -= len(r.List)
	at := slices.IndexFunc(r.List, p.is)
	if at < 0 {
		return nil, false
	}
	only := p.known[r.List[at]]
	for _, c := range r.List {
		if c == r.List[at] {
			continue
		}
		if p.is(c) {
			return &Claim{Kind: Contradiction, Rule: i, Because: []*Claim{only, p.known[c]}}, true
		}
		if p.known[c] == nil {
			_, learned := p.learn(Excluded, c, i, []*Claim{only})
			progress = progress || learned
		}
	}
	return nil, progress
}

// learn adds a conclusion, or reports that it contradicts what is known.
func (p *prover) learn(kind ClaimKind, c, rule int, because []*Claim) (end *Claim, progress bool) {
	k := p.known[c]
	made := &Claim{Kind: kind, Class: c, Rule: rule, Because: because}
	switch {
	case k == nil:
		p.known[c] = made
		return nil, true
	case (k.Kind == Excluded) == (kind == Excluded):
		return nil, false
	case kind == Excluded:
		return &Claim{Kind: Contradiction, Rule: rule, Because: append(slices.Clip(because), k)}, true
	}
	return &Claim{Kind: Contradiction, Rule: rule, Because: append([]*Claim{k}, because...)}, true
}

// refuted reports whether a formula is known not to hold, and returns the claims that show
// it.
func (p *prover) refuted(n *Formula) (bool, []*Claim) {
	var why []*Claim
	*p.work -= len(n.Classes)
	switch n.Op {
	case AnyOf:
		if len(n.Classes) == 0 {
			return true, []*Claim{{Kind: Unmet, Part: n}}
		}
		for _, c := range n.Classes {
			if !p.not(c) {
				return false, nil
			}
		}
		for _, c := range n.Classes {
			why = append(why, p.known[c])
		}
		return true, why
	case Some:
		for _, k := range n.Kids {
			no, w := p.refuted(k)
			if !no {
				return false, nil
			}
			why = append(why, w...)
		}
		return true, why
	case Every:
		for _, k := range n.Kids {
			if no, w := p.refuted(k); no {
				return true, w
			}
		}
	case NoneOf:
		for _, c := range n.Classes {
			if p.is(c) {
				return true, []*Claim{p.known[c]}
			}
		}
	}
	return false, nil
}

// force draws the conclusions of a formula that must hold and is not refuted.
func (p *prover) force(n *Formula, rule int, because []*Claim) (end *Claim, progress bool) {
	*p.work -= len(n.Classes)
	switch n.Op {
	case AnyOf:
		last, why := NoClass, slices.Clip(because)
		for _, c := range n.Classes {
			switch {
			case p.is(c):
				return nil, false
			case p.not(c):
				why = append(why, p.known[c])
			case last != NoClass:
				return nil, false
			default:
				last = c
			}
		}
		if last == NoClass {
			return nil, false
		}
		return p.learn(Chosen, last, rule, why)
	case Every:
		for _, k := range n.Kids {
			e, did := p.force(k, rule, because)
			if e != nil {
				return e, true
			}
			progress = progress || did
		}
	case Some:
		var last *Formula
		why := slices.Clip(because)
		for _, k := range n.Kids {
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
	case NoneOf:
		for _, c := range n.Classes {
			if p.known[c] == nil {
				e, did := p.learn(Excluded, c, rule, because)
				if e != nil {
					return e, true
				}
				progress = progress || did
			}
		}
	}
	return nil, progress
}
