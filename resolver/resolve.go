package resolver

import (
	"context"
)

// Resolve returns what a namespace should install. It does not modify the problem.
// Goroutines may share its catalogs.
//
// The error is a [*Conflict] if the problem has no solution, a [*document.Error] if the
// problem is malformed, an [*UnhealthyError] if a catalog cannot be read, or the context's
// error. If part of a catalog cannot be read, it is a [*graph.IndexError]. Resolve stops
// soon after the context is done.
func Resolve(ctx context.Context, p Problem) (*Solution, error) { // D18
	return resolve(ctx, &p, new(scratch))
}

// resolve is Resolve with scratch memory. It retains p.
func resolve(ctx context.Context, p *Problem, s *scratch) (sol *Solution, err error) {
	defer func() {
		if unread(p.Catalogs, &err); err != nil {
			sol = nil
		}
	}()
	r, err := start(ctx, p, func(u *universe) { u.found = s.found })
	if err != nil {
		return nil, err
	}
	s.found, r.u.found = r.u.found.cleared(), foundOffers{} // explanations may run while the next problem is solved
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
	set, ok := r.backtrack(ctx, s)
	if err := r.interrupted(ctx); err != nil {
		return nil, nil, err
	}
	switch {
	case ok && set != nil:
		return r.solution(set), nil, nil
	case ok:
		return nil, nil, nil
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
	return len(r.missing) > 0
}
