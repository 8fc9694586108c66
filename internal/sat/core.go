package sat

import (
	"context"
	"slices"
)

// MinimalCore returns a minimal set of assumptions that cannot hold together,
// in the order of assume: without any one of them, the others can. It returns
// nil if all assumptions can hold together. Starting from the core of the
// solver, it drops earlier assumptions first.
//
// also, if not nil, is called when a search has shown that the core without one
// assumption can hold, so that this assumption is necessary. It returns others
// that are necessary too, which saves a search for each.
func (s *Solver) MinimalCore(ctx context.Context, assume []Lit, also func(core []Lit, without Lit) []Lit) ([]Lit, error) {
	ok, err := s.Solve(ctx, assume...)
	if ok || err != nil {
		return nil, err
	}
	core := inOrder(assume, s.Core())
	needed := map[Lit]bool{} // in every smaller core
	for i := 0; i < len(core); {
		if needed[core[i]] {
			i++
			continue
		}
		without := slices.Delete(slices.Clone(core), i, i+1)
		ok, err := s.Solve(ctx, without...)
		if err != nil {
			return nil, err
		}
		if ok {
			if also != nil {
				for _, l := range also(core, core[i]) {
					needed[l] = true
				}
			}
			i++
			continue
		}
		// Assumptions that the solver did not use are not needed.
		core = inOrder(core, s.Core())
	}
	return core, nil
}

// inOrder returns the members of set in the order of list.
func inOrder(list, set []Lit) []Lit {
	member := make(map[Lit]bool, len(set))
	for _, l := range set {
		member[l] = true
	}
	var out []Lit
	for _, l := range list {
		if member[l] {
			out = append(out, l)
			member[l] = false
		}
	}
	return out
}
