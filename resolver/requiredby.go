package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
)

// RequiredBy returns all subscriptions and requirements in the solution that a bundle or
// operator satisfies; [Solution.Why] follows only one. Subscriptions come first, in the
// order of the problem, then requirements, in the order in which their bundles were
// chosen. A bundle with two such requirements appears twice. An operator without a
// subscription that nothing requires has no reasons.
//
// If several bundles in the solution satisfy a requirement, it is returned for each of
// them. Preferred and Options are not set. The error is the context's, or reports that the
// solution does not contain the bundle.
func (s *Solution) RequiredBy(ctx context.Context, name string) (Reasons, error) {
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
				continue // owner satisfies it by itself, or c does not
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

// owners returns the set in the order in which it was chosen. Candidates that no decision
// added are last.
func (w *why) owners() []cand {
	out := slices.Clone(w.order)
	for _, c := range w.set {
		if _, chosen := w.cause[c]; !chosen {
			out = append(out, c)
		}
	}
	return out
}

// metBy reports whether a candidate in the solution helps to satisfy a need.
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
