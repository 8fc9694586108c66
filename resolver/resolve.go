package resolver

import (
	"cmp"
	"context"
	"slices"

	"github.com/olmkit/olmkit/resolver/fact"
)

// Resolve returns what a namespace should install. It does not modify the problem.
// Goroutines may share its catalogs.
//
// The error is a [*Conflict] if the problem has no solution, a [*document.Error] if the
// problem is malformed, an [*UnhealthyError] if a catalog cannot be read, or the context's
// error. Resolve stops soon after the context is done.
func Resolve(ctx context.Context, p Problem) (*Solution, error) {
	return resolve(ctx, &p, new(scratch))
}

// resolve is Resolve with scratch memory. It retains p.
func resolve(ctx context.Context, p *Problem, s *scratch) (*Solution, error) {
	r, err := start(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	sol, e, err := r.solve(ctx, s)
	if sol != nil || err != nil {
		return sol, err
	}
	if e == nil {
		if e, err = r.encode(ctx); err != nil {
			return nil, err
		}
	}
	return r.refuse(ctx, e)
}

// start returns the resolution of a problem. adjust, if not nil, is called for its universe
// first.
func start(ctx context.Context, p *Problem, adjust func(*universe)) (*resolution, error) {
	u, err := newUniverse(ctx, p)
	if err != nil {
		return nil, err
	}
	if adjust != nil {
		adjust(u)
	}
	return newResolution(ctx, u)
}

// solve returns the solution, or nil if there is none, and the encoding if one was needed.
func (r *resolution) solve(ctx context.Context, s *scratch) (*Solution, *encoding, error) {
	if r.impossible() {
		return nil, nil, nil
	}
	set, ok := r.first(ctx, s)
	if err := r.interrupted(ctx); err != nil {
		return nil, nil, err
	}
	if ok {
		return r.solution(set), nil, nil
	}
	e, err := r.encode(ctx)
	if err != nil {
		return nil, nil, err
	}
	set, ok, err = e.search(ctx, e.on, func(int) bool { return true })
	if !ok || err != nil {
		return nil, e, err
	}
	return r.solution(set), e, nil
}

// impossible reports whether some subscription has nothing to choose from.
func (r *resolution) impossible() bool {
	return slices.ContainsFunc(r.missing, func(f fact.Fact) bool { return f != nil })
}

// solution returns the solution for a set that violates no rule.
func (r *resolution) solution(set []cand) *Solution {
	u := r.u
	sol := &Solution{ID: u.p.ID, Namespace: u.p.Namespace, Selected: []Selected{}, r: r, set: set}
	for _, c := range set {
		if u.isInstalled(c) {
			continue
		}
		e, b := u.entry(c)
		s := Selected{
			Name: b.Name(), Channel: e.Channel().Name(), Package: b.Package().Name(),
			Catalog: u.source(c).Name, CatalogNamespace: u.source(c).Namespace,
			Replaces: e.Replaces(), Version: b.Version().String(),
			Bundle: b,
		}
		// An upgrade replaces the installed operator (H4).
		for _, in := range r.replacedBy[c] {
			s.Replaces = u.installed[in].Name
		}
		sol.Selected = append(sol.Selected, s)
	}
	slices.SortFunc(sol.Selected, Selected.Compare)
	stays := make([]bool, len(u.installed))
	for _, c := range set {
		if u.isInstalled(c) {
			stays[c] = true
		}
	}
	for i, s := range u.subs {
		switch {
		case r.options[i] == nil:
		case s.current == nil:
			for _, c := range r.options[i].list {
				if u.isInstalled(c) && stays[c] {
					sol.Stayed = append(sol.Stayed, Stay{Subscription: s.Name, Name: u.installed[c].Name, Package: s.Package, Reason: staysPresent})
				}
			}
		case stays[s.current.id]:
			sol.Stayed = append(sol.Stayed, r.stay(s, r.options[i].list))
		}
	}
	unread := false
	sol.LeftOut, unread = r.leftOut(set)
	sol.Unseen = u.unseen
	sol.Faults = u.evaluation.list()
	sol.Differs = r.differences(set)
	if unread {
		sol.Differs = slices.Insert(sol.Differs, 0, Difference{Rule: "H7",
			Text: "OLM refuses the whole namespace if a bundle cannot be read; fix the bundles that were left out"})
	}
	return sol
}

// stay returns why the operator of a subscription stays.
func (r *resolution) stay(s *subscription, options []cand) Stay {
	x := Stay{Subscription: s.Name, Name: s.current.Name, Package: s.Package, Reason: staysNoSuccessor}
	for _, c := range options {
		if !r.u.isInstalled(c) {
			x.Reason = staysBlocked
			x.Blocked = append(x.Blocked, r.u.ref(c))
		}
	}
	if x.Reason == staysNoSuccessor {
		in, _ := r.u.sourcesFor(s)
		for _, c := range in {
			for _, ch := range s.channels(c) {
				if h, ok := ch.Head(); ok && h.Name() == s.current.Name {
					x.Reason = staysAtHead
				}
			}
		}
	}
	return x
}

// leftOut lists the unreadable candidates among the options of all decisions. Catalogs
// without problems, which are nearly all, cost nothing. Unread reports whether any of them
// is left out for a reason other than a repeated declaration (H26).
func (r *resolution) leftOut(set []cand) (out []LeftOut, unread bool) {
	u := r.u
	for _, in := range u.installed {
		if in.err != nil {
			out, unread = append(out, LeftOut{u.ref(in.id), in.err.Error()}), true
		}
	}
	if !slices.ContainsFunc(u.cats, func(s *source) bool { return len(s.Graph.Problems()) > 0 }) {
		return out, unread
	}
	seen, needs := map[cand]bool{}, map[*need]bool{}
	look := func(c cand) {
		if u.isInstalled(c) || seen[c] {
			return
		}
		seen[c] = true
		if f := u.unreadable(c); f != nil {
			out = append(out, LeftOut{f.Bundle, f.Err.Error()})
			unread = unread || !f.Repeats
		}
	}
	for _, n := range r.options {
		if n != nil {
			n.eachNew(needs, look)
		}
	}
	for _, c := range set {
		for _, q := range r.needs.requirements(context.Background(), c) {
			q.eachNew(needs, look)
		}
	}
	slices.SortFunc(out, func(a, b LeftOut) int {
		return cmp.Or(a.Bundle.Catalog.Compare(b.Bundle.Catalog), cmp.Compare(a.Bundle.Name, b.Bundle.Name), cmp.Compare(a.Bundle.Channel, b.Bundle.Channel))
	})
	return out, unread
}
