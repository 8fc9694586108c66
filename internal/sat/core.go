package sat

import (
	"context"
	"slices"
)

// MinimalCore returns assumptions that cannot hold together, such that without
// any one of them the others can, in the order of assume. It returns nil when
// all can hold together. Of several minimal cores it returns the one that drops
// earlier assumptions first, starting from what the solver found.
//
// also, which may be nil, is asked after a search that found a model of all of a
// core but one assumption. It returns others of the core without which, too, the
// rest of it can hold, and so spares their searches.
func (s *Solver) MinimalCore(ctx context.Context, assume []Lit, also func(core []Lit, without Lit) []Lit) ([]Lit, error) {
	ok, err := s.Solve(ctx, assume...)
	if ok || err != nil {
		return nil, err
	}
	core := inOrder(assume, s.Core())
	needed := map[Lit]bool{} // in every smaller core, too
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
		// What the solver did not use is not needed either.
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
