package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/property"
)

// first takes the first option of each choice, in the order of the search. If the resulting
// set violates no rule, it is the best answer and no solver is needed. ok is false as soon
// as something conflicts.
func (r *resolution) first(ctx context.Context, s *scratch) (set []cand, ok bool) {
	t := s.attempt.start(r)
	defer t.end()
	t.set = make([]cand, 0, len(r.u.installed)+len(r.u.subs))
	for _, in := range r.u.installed {
		if len(in.owners) == 0 && !t.take(ctx, in.id) {
			return nil, false
		}
	}
	ok = r.walk(ctx, walk{
		stays:   t.set,
		decided: t.decided,
		choose: func(d decision) (cand, *need, bool) {
			if d.kind == proof.Some {
				return noCand, d.kids[0], true
			}
			i := slices.IndexFunc(d.list, func(c cand) bool { return r.u.barred(ctx, c) == nil })
			if i < 0 || !t.take(ctx, d.list[i]) {
				return noCand, nil, false
			}
			return d.list[i], nil, true
		},
		requires: func(n *need) { t.forbidden = append(t.forbidden, n.forbidden()...) },
	})
	if !ok {
		return nil, false
	}
	for _, x := range t.forbidden {
		if len(r.u.among(ctx, x, t.set, func(c cand) bool { return t.took[c] })) > 0 {
			return nil, false
		}
	}
	return t.set, true
}

// An attempt is a set of candidates that grows until something in it conflicts.
type attempt struct {
	r         *resolution
	set       []cand
	took      map[cand]bool
	replaced  map[cand]bool  // installed operators that something in set replaces
	met       map[*need]bool // needs with long lists that are decided
	pkgs      map[string]bool
	apis      map[property.GVK]bool
	forbidden []constraints.Expr
}

// decided reports whether the candidates taken so far decide a need. It remembers decided
// needs with long lists, because many candidates may share such a need and each search of
// its list takes time.
func (t *attempt) decided(n *need) bool {
	const long = 16
	if t.met[n] {
		return true
	}
	if !n.decided(func(c cand) bool { return t.took[c] }) {
		return false
	}
	if len(n.list) > long {
		t.met[n] = true
	}
	return true
}

// start begins an attempt and reuses the memory of an earlier one.
func (t *attempt) start(r *resolution) *attempt {
	t.r = r
	if t.took == nil {
		t.took, t.replaced, t.met = map[cand]bool{}, map[cand]bool{}, map[*need]bool{}
		t.pkgs, t.apis = map[string]bool{}, map[property.GVK]bool{}
	}
	return t
}

// end clears the attempt, so that it does not keep the problem in memory.
func (t *attempt) end() {
	t.r, t.set = nil, nil // the set is the answer
	clear(t.took)
	clear(t.replaced)
	clear(t.met)
	clear(t.pkgs)
	clear(t.apis)
	clear(t.forbidden)
	t.forbidden = t.forbidden[:0]
}

// take adds a candidate. It returns false if the candidate conflicts with those taken
// before (D10) or can never be chosen.
func (t *attempt) take(ctx context.Context, c cand) bool {
	if t.r.u.barred(ctx, c) != nil {
		return false
	}
	if p := t.r.u.pkg(c); p != "" {
		if t.pkgs[p] {
			return false
		}
		t.pkgs[p] = true
	}
	for _, p := range t.r.u.further(c) {
		if t.pkgs[p] {
			return false
		}
		t.pkgs[p] = true
	}
	for g := range t.r.u.apis(c) {
		if t.apis[g] {
			return false
		}
		t.apis[g] = true
	}
	// An upgrade replaces the installed operator, whatever packages the two declare.
	for _, in := range t.r.replacedBy[c] {
		if t.took[in] {
			return false
		}
		t.replaced[in] = true
	}
	if t.replaced[c] {
		return false
	}
	t.took[c] = true
	t.set = append(t.set, c)
	return true
}

// A scratch is memory that a resolution uses and then clears for the next one on the same
// goroutine.
type scratch struct{ attempt attempt }
