package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
)

// RequiredBy returns all subscriptions and requirements in the solution that a bundle or
// operator satisfies; [Solution.Why] follows only one. Subscriptions come first, in the
// order of the problem, then requirements, in the order in which their bundles were
// chosen. A bundle with two such requirements appears twice. The list is empty for an
// operator that has no subscription and that nothing requires.
//
// If several bundles in the solution satisfy a requirement, it is returned for each of
// them. Preferred and Options are not set. The error is the context's, or reports that the
// solution does not contain the bundle.
func (s *Solution) RequiredBy(ctx context.Context, name string) (_ Reasons, err error) {
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	w, err := s.reasons(ctx)
	if err != nil {
		return nil, err
	}
	c, err := w.named(name)
	if err != nil {
		return nil, err
	}
	asks, err := w.asks(ctx)
	if err != nil {
		return nil, err
	}
	var out []Reason
	for _, a := range asks[c] {
		out = append(out, w.reason(c, a))
	}
	return out, nil
}

// asks returns all requests for each candidate of the solution, in the order of
// [Solution.RequiredBy]. It visits each requirement only once, because there may be as
// many requirements as candidates.
func (w *why) asks(ctx context.Context) (map[cand][]ask, error) {
	if w.asked != nil {
		return w.asked, nil
	}
	asked := map[cand][]ask{}
	for i, sub := range w.r.u.subs {
		if n := w.r.options[i]; n != nil {
			for _, c := range w.meeting(ctx, n) {
				asked[c] = append(asked[c], ask{sub: sub, owner: noCand})
			}
		}
	}
	met := map[*need][]cand{} // bundles with equal requirements share a need
	for _, owner := range w.owners() {
		for _, q := range w.r.needs.requirements(ctx, owner) {
			list, ok := met[q.need]
			if !ok {
				list = w.meeting(ctx, q.need)
				met[q.need] = list
			}
			if _, self := slices.BinarySearch(list, owner); self {
				continue // owner satisfies it by itself
			}
			for _, c := range list {
				asked[c] = append(asked[c], ask{owner: owner, req: q.Requirement})
			}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	w.asked = asked
	return asked, nil
}

// owners returns the candidates in the solution in the order in which they were chosen.
// Those that no decision added are last.
func (w *why) owners() []cand {
	out := slices.Clone(w.order)
	for _, c := range w.set {
		if _, chosen := w.cause[c]; !chosen {
			out = append(out, c)
		}
	}
	return out
}

// meeting returns the candidates in the solution that help to satisfy a need, in
// canonical order.
func (w *why) meeting(ctx context.Context, n *need) []cand {
	list := w.appendMeeting(ctx, n, nil)
	slices.Sort(list)
	return slices.Compact(list)
}

func (w *why) appendMeeting(ctx context.Context, n *need, list []cand) []cand {
	switch n.kind {
	case proof.AnyOf:
		for _, c := range n.list {
			if w.has(c) {
				list = append(list, c)
			}
		}
	case proof.Every:
		for _, k := range n.kids {
			list = w.appendMeeting(ctx, k, list)
		}
	case proof.Some:
		for _, k := range n.kids {
			if k.heldBy(ctx, w.r.u, w.set, w.has) {
				list = w.appendMeeting(ctx, k, list)
			}
		}
	}
	return list
}
