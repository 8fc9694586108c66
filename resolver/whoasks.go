package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
)

// WhoAsks returns everything in the solution that asks for a bundle of the plan
// or an operator that stays, where [Solution.Why] follows the first of it: the
// subscriptions in the order of the problem, then the requirements of the other
// bundles and operators in the order in which they were chosen. Each is one
// requirement, so that what requires a bundle twice is there twice. Nothing asks
// for an operator that is installed without a subscription and that nothing
// requires.
//
// Where one of several bundles would do, the requirement is told of each that the
// solution holds. The reasons tell nothing of other options: Preferred and Options
// are not set. The error is the context's, or says that the solution holds no such
// bundle (D17).
func (s *Solution) WhoAsks(ctx context.Context, name string) (Reasons, error) {
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx)
	w, err := s.reasons(ctx)
	if err != nil {
		return nil, err
	}
	c, err := w.named(name)
	if err != nil {
		return nil, err
	}
	var out []Reason
	for i, sub := range w.r.u.subs {
		if n := w.r.options[i]; n != nil && n.metBy(ctx, w, c) {
			out = append(out, Reason{Bundle: w.r.u.ref(c), Subscription: sub.Name})
		}
	}
	for _, owner := range w.owners() {
		if owner == c {
			continue
		}
		for _, q := range w.r.needs.requirements(ctx, owner) {
			if q.metBy(ctx, w, owner) || !q.metBy(ctx, w, c) {
				continue // it provides what it requires, or has it of another
			}
			r := &Requires{Bundle: w.r.u.ref(owner), Pos: w.r.u.pos(owner), Property: q.Property, Requirement: q.Expr}
			out = append(out, Reason{Bundle: w.r.u.ref(c), By: r.Bundle, Requirement: requirement(r), Place: r.place()})
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return out, nil
}

// owners returns the set in the order in which it was chosen; what no decision
// brought in is last.
func (w *why) owners() []cand {
	out := slices.Clone(w.order)
	for _, c := range w.set {
		if _, chosen := w.cause[c]; !chosen {
			out = append(out, c)
		}
	}
	return out
}

// metBy reports whether a candidate of the solution is among those that meet a
// need.
func (n *need) metBy(ctx context.Context, w *why, c cand) bool {
	switch n.kind {
	case proof.AnyOf:
		return slices.Contains(n.list, c)
	case proof.Every:
		return slices.ContainsFunc(n.kids, func(k *need) bool { return k.metBy(ctx, w, c) })
	case proof.Some:
		return slices.ContainsFunc(n.kids, func(k *need) bool { return k.heldBy(ctx, w.r.u, w.set, w.has) && k.metBy(ctx, w, c) })
	}
	return false
}
