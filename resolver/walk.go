package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/sat"
)

// long is the length of lists above which results of a search of a list are kept.
const long = 16

// A decision is a choice that a subscription or a requirement leaves open.
type decision struct {
	*need
	owner cand // the candidate with the requirement, or noCand for a subscription
	nth   int  // the index of the requirement of owner, or of the subscription
	by    int  // the number of the choice that led to this decision, or 0
}

// A chooser makes the choices of a walk.
type chooser interface {
	// has reports whether a candidate stays or was taken.
	has(c cand) bool
	// choose makes choice n, counted from 1. It returns the candidate that the decision
	// takes, or the part of its need to decide instead, or neither. The choice fails if ok is
	// false.
	choose(ctx context.Context, n int, d decision) (c cand, part *need, ok bool)
	// requires is called for each requirement of a candidate that stays or is taken, and for
	// each chosen part of a need, or for their parts if all must be satisfied. The choice
	// that led to it fails if it returns false.
	requires(ctx context.Context, n *need) bool
	// back is called when a choice fails and when the walk ends. It returns the number of the
	// choice to make again; those after it are undone. The walk is over if ok is false.
	back(ctx context.Context, ended bool) (n int, ok bool)
}

// walk makes the decisions in the order of the search (sat.Solver.Prefer): subscriptions,
// then the requirements of candidates that stay or are taken. Stays need no decision. It uses
// the memory of m.
func (r *resolution) walk(ctx context.Context, stays []cand, by chooser, m *decisions) {
	queue := slices.Grow(m.queue, 2*len(r.options))
	for i, n := range r.options {
		if n != nil {
			queue = append(queue, decision{n, noCand, i, 0})
		}
	}
	x := &progress{chooser: by, needs: r.needs, made: m.made}
	ok := true
	for _, c := range stays {
		if ok {
			queue, ok = x.take(ctx, queue, c)
		}
	}
	m.queue = queue // the walk removes decisions from its front
	defer func() { m.made = x.made }()
	choose := func(d decision, queue []decision) ([]decision, bool) { return x.make(ctx, d, queue) }
	var err error
	if ok {
		ok, err = sat.Walk(ctx, queue, x.decided, choose)
	}
	for err == nil {
		n, again := x.back(ctx, ok)
		if !again {
			return
		}
		d, rest := x.undo(n)
		if queue, ok = choose(d, rest); ok {
			ok, err = sat.Walk(ctx, queue, x.decided, choose)
		}
	}
}

// Decisions are memory for a walk.
type decisions struct {
	queue []decision
	made  []made
}

// emptied returns the memory without what it held.
func (m decisions) emptied() decisions {
	clear(m.queue[:cap(m.queue)])
	clear(m.made[:cap(m.made)])
	return decisions{m.queue[:0], m.made[:0]}
}

// A progress is the state of a walk.
type progress struct {
	chooser
	needs *needs
	made  []made
	// met are needs with long lists that are decided, and inMet lists them in the order in
	// which they were added. Many candidates may share such a need, and each search of its
	// list takes time.
	met   map[*need]bool
	inMet []*need
}

// A made is a choice that was made.
type made struct {
	decision
	rest []decision // those after it at that time
	met  int        // the length of inMet at that time
}

// decided reports whether the candidates that were taken decide a need.
func (x *progress) decided(d decision) bool {
	if x.met[d.need] {
		return true
	}
	if !d.need.decided(x.has) {
		return false
	}
	if len(d.list) > long {
		if x.met == nil {
			x.met = map[*need]bool{}
		}
		x.met[d.need] = true
		x.inMet = append(x.inMet, d.need)
	}
	return true
}

// make makes a choice, and returns the decisions that remain.
func (x *progress) make(ctx context.Context, d decision, queue []decision) ([]decision, bool) {
	x.made = append(x.made, made{d, queue, len(x.inMet)})
	c, part, ok := x.choose(ctx, len(x.made), d)
	switch {
	case !ok:
		return nil, false
	case c != noCand:
		return x.take(ctx, queue, c)
	case part != nil:
		return x.add(ctx, queue, decision{part, d.owner, d.nth, len(x.made)})
	}
	return queue, true
}

// take adds the decisions that the requirements of a candidate leave open.
func (x *progress) take(ctx context.Context, queue []decision, c cand) (_ []decision, ok bool) {
	ok = true
	for i, q := range x.needs.requirements(ctx, c) {
		if queue, ok = x.add(ctx, queue, decision{q.need, c, i, len(x.made)}); !ok {
			break
		}
	}
	return queue, ok
}

// add adds the decisions that the need of d leaves open.
func (x *progress) add(ctx context.Context, queue []decision, d decision) (_ []decision, ok bool) {
	if d.kind == proof.Every {
		ok = true
		for _, k := range d.kids {
			if queue, ok = x.add(ctx, queue, decision{k, d.owner, d.nth, d.by}); !ok {
				break
			}
		}
		return queue, ok
	}
	if d.kind != proof.NoneOf {
		queue = append(queue, d)
	}
	return queue, x.requires(ctx, d.need)
}

// undo forgets choice n and those after it, and returns its decision and those that were after
// it then. Slots of the queue that later choices filled may be overwritten.
func (x *progress) undo(n int) (decision, []decision) {
	m := x.made[n-1]
	x.made = x.made[:n-1]
	for _, n := range x.inMet[m.met:] {
		delete(x.met, n)
	}
	x.inMet = x.inMet[:m.met]
	return m.decision, m.rest
}
