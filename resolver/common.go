package resolver

import (
	"context"

	"github.com/olmkit/olmkit/internal/sat"
)

// If all candidates of a need share a requirement, as the versions of a package usually
// do, the need has that requirement too. A solver would discover this for one need at a
// time by searching all its candidates, and would do so again for each link of a chain of
// requirements.

// common adds, to each need, the requirements that all of its candidates share.
func (e *encoding) common(ctx context.Context) {
	type owned struct {
		owner cand
		need  *need
	}
	because := map[owned]int{}  // the facts about requirements of candidates
	barred := map[cand]int{}    // the facts that exclude candidates
	first := map[cand][]*need{} // the requirements of each, in order
	var needs []*need
	for i, f := range e.facts {
		switch {
		case f.need != nil:
			needs = append(needs, f.need)
			if f.owner != noCand {
				because[owned{f.owner, f.need}] = i
				first[f.owner] = append(first[f.owner], f.need)
			}
		case f.owner != noCand && !isRequest(f.Fact):
			barred[f.owner] = i
		}
	}
	// on returns the switches of facts by which each candidate in list either requires q
	// or is excluded. ok is false if a candidate has no such fact.
	on := func(list []cand, q *need) (out []sat.Lit, ok bool) {
		for _, c := range list {
			i, ok := because[owned{c, q}]
			if !ok {
				i, ok = barred[c]
			}
			if !ok {
				return nil, false
			}
			out = append(out, e.on[i])
		}
		return out, true
	}
	seen := map[*need]bool{}
	for ; len(needs) > 0 && ctx.Err() == nil; needs = needs[1:] {
		n := needs[0]
		if seen[n] {
			continue
		}
		seen[n] = true
		needs = append(needs, n.kids...)
		if len(n.list) < 2 {
			continue
		}
		var shared []*need
		for _, c := range n.list {
			if _, never := barred[c]; !never {
				shared = first[c]
				break
			}
		}
		for _, q := range shared {
			if all, ok := on(n.list, q); ok {
				e.s.Clause(e.lit(ctx, n).Not(), e.lit(ctx, q), e.s.And(all...).Not())
			}
		}
	}
}
