package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/property"
)

// first tries what everybody prefers: each choice, in the order of the search
// (sat.Solver.Prefer), takes its first option. If the set that results breaks no
// rule, it is the best answer there is, and no solver was needed. ok is false as
// soon as something does not fit.
func (r *resolution) first(ctx context.Context, s *scratch) (set []cand, ok bool) {
	t := s.attempt.start(r)
	defer t.end()
	t.set = make([]cand, 0, len(r.u.installed)+len(r.u.subs))
	for _, in := range r.u.installed {
		if len(in.owners) == 0 && !t.take(ctx, in.id) {
			return nil, false
		}
	}
	queue := slices.Clone(r.options)
	push := func(c cand) {
		for _, q := range r.needs.requirements(ctx, c) {
			queue = q.appendChoices(queue)
			t.forbidden = append(t.forbidden, q.forbidden()...)
		}
	}
	for _, c := range t.set {
		push(c)
	}
	for len(queue) > 0 {
		if ctx.Err() != nil {
			return nil, false
		}
		n := queue[0]
		queue = queue[1:]
		if t.decided(n) {
			continue
		}
		if n.kind == proof.Some {
			k := n.kids[0]
			queue = k.appendChoices(queue)
			t.forbidden = append(t.forbidden, k.forbidden()...)
			continue
		}
		i := slices.IndexFunc(n.list, func(c cand) bool { return r.u.barred(ctx, c) == nil })
		if i < 0 || !t.take(ctx, n.list[i]) {
			return nil, false
		}
		push(n.list[i])
	}
	for _, x := range t.forbidden {
		if len(r.u.among(ctx, x, t.set, func(c cand) bool { return t.took[c] })) > 0 {
			return nil, false
		}
	}
	return t.set, true
}

// An attempt is a set that grows while nothing in it collides.
type attempt struct {
	r         *resolution
	set       []cand
	took      map[cand]bool
	replaced  map[cand]bool  // installed operators that something in set replaces
	met       map[*need]bool // needs that are decided, if that is not seen at once
	pkgs      map[string]bool
	apis      map[property.GVK]bool
	forbidden []constraints.Expr
}

// decided reports whether what was taken meets a need. A long list that many need is
// looked through once.
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

// start begins an attempt in the memory of an earlier one.
func (t *attempt) start(r *resolution) *attempt {
	t.r = r
	if t.took == nil {
		t.took, t.replaced, t.met = map[cand]bool{}, map[cand]bool{}, map[*need]bool{}
		t.pkgs, t.apis = map[string]bool{}, map[property.GVK]bool{}
	}
	return t
}

// end forgets everything, so that nothing of the problem stays in memory.
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

// take adds a candidate; it reports false when the candidate collides with what
// was taken (D10) or may never be chosen.
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
	// An upgrade takes the place of what it upgrades, whatever package that says
	// it is of.
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
