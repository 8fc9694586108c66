package resolver

import (
	"context"

	"github.com/olmkit/olmkit/internal/sat"
)

// A decision is a choice that a subscription or a requirement leaves open.
type decision struct {
	*need
	owner cand // the candidate with the requirement, or noCand for a subscription
	nth   int  // the index of the requirement of owner, or of the subscription
}

// A walk has the functions that make decisions.
type walk struct {
	// stays are the candidates that need no decision.
	stays   []cand
	decided func(*need) bool
	// choose returns the candidate that a decision takes, or the part of its need to
	// decide instead, or neither. The walk ends if ok is false.
	choose func(d decision) (c cand, part *need, ok bool)
	// requires, if not nil, is called for each requirement of a taken candidate, and for
	// each of its parts.
	requires func(*need)
}

// walk makes the decisions in the order of the search (sat.Solver.Prefer): subscriptions,
// then the requirements of candidates that stay or are taken. It reports whether it
// finished.
func (r *resolution) walk(ctx context.Context, w walk) bool {
	queue := make([]decision, 0, 2*len(r.options))
	for i, n := range r.options {
		if n != nil {
			queue = append(queue, decision{n, noCand, i})
		}
	}
	add := func(queue []decision, n *need, owner cand, nth int) []decision {
		if w.requires != nil {
			w.requires(n)
		}
		n.eachChoice(func(x *need) { queue = append(queue, decision{x, owner, nth}) })
		return queue
	}
	take := func(queue []decision, c cand) []decision {
		for i, q := range r.needs.requirements(ctx, c) {
			queue = add(queue, q.need, c, i)
		}
		return queue
	}
	for _, c := range w.stays {
		queue = take(queue, c)
	}
	decided := func(d decision) bool { return w.decided(d.need) }
	ended, err := sat.Walk(ctx, queue, decided, func(d decision, queue []decision) ([]decision, bool) {
		c, part, ok := w.choose(d)
		switch {
		case !ok:
			return nil, false
		case c != noCand:
			queue = take(queue, c)
		case part != nil:
			queue = add(queue, part, d.owner, d.nth)
		}
		return queue, true
	})
	return ended && err == nil
}
