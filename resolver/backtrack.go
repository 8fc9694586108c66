package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/property"
)

// maxSteps limits how often backtrack rejects an option or repeats a choice, for each option
// of a subscription and each choice made: a solver costs more, the more a problem reaches. Then
// it leaves the problem to the solver, which learns from conflicts.
const maxSteps = 4

// backtrack takes the first possible option of each choice. Where no option is possible, it
// returns to the last choice that is to blame and takes the next option there. The set is
// the one that the solver prefers, because both try options in the same order, but usually
// there is little to try, and no solver needs to be built.
//
// The set is nil if there is none. ok is false if backtrack gave up.
func (r *resolution) backtrack(ctx context.Context, s *scratch) (set []cand, ok bool) {
	t := s.attempt.start(r)
	defer t.end()
	t.set = make([]cand, 0, len(r.u.installed)+len(r.u.subs))
	for _, in := range r.u.installed {
		if len(in.owners) > 0 {
			continue
		}
		if _, ok := t.take(ctx, in.id, 0); !ok {
			return nil, true
		}
	}
	r.walk(ctx, t.set, t, &t.decisions)
	if t.state != complete {
		return nil, t.state == impossible
	}
	return t.set, true
}

// An attempt is a set of candidates that grows, and shrinks where backtrack returns to an
// earlier choice. Choices are numbered from 1; 0 stands for what no choice decided.
type attempt struct {
	r    *resolution
	set  []cand
	took map[cand]int // the choice that added each member of set
	// The members of set that replace an installed operator, belong to a package and
	// provide an API.
	replaced map[cand]cand
	pkgs     map[string]cand
	apis     map[property.GVK]cand
	bans     []ban
	choices  []choice
	decisions
	witness map[*need]int // the index of a candidate that was possible, in long lists
	dead    map[cand]bool // candidates found to be in no set
	fault   []int         // why the last choice failed: choices that cannot all stay
	steps   int
	limit   int // of steps
	state   attemptState
}

type attemptState int

const (
	incomplete attemptState = iota
	complete
	impossible
)

// A ban is an expression that no member of the set may satisfy, and the choice that led to it.
type ban struct {
	expr constraints.Expr
	by   int
}

// A choice is a decision in progress.
type choice struct {
	by   int  // the choice that led to the decision
	took cand // or noCand
	next int  // the next option to try
	// The options before next are impossible because of these choices and by.
	blame []int
	// The lengths of set and bans before the choice.
	set, bans int
}

// start begins an attempt and reuses the memory of an earlier one.
func (t *attempt) start(r *resolution) *attempt {
	t.r, t.limit = r, 1000
	for _, n := range r.options {
		if n != nil {
			t.limit += maxSteps * len(n.list)
		}
	}
	if t.took == nil {
		n, apis := len(r.options), 0 // guesses
		for _, in := range r.u.installed {
			apis += len(in.apis)
		}
		t.took, t.replaced = make(map[cand]int, n), make(map[cand]cand, len(r.replacedBy))
		t.pkgs, t.apis = make(map[string]cand, n), make(map[property.GVK]cand, max(2*n, apis))
	}
	return t
}

// end clears the attempt, so that it does not keep the problem in memory.
func (t *attempt) end() {
	clear(t.took)
	clear(t.replaced)
	clear(t.pkgs)
	clear(t.apis)
	clear(t.bans[:cap(t.bans)])
	clear(t.choices[:cap(t.choices)])
	*t = attempt{
		took: t.took, replaced: t.replaced, pkgs: t.pkgs, apis: t.apis, bans: t.bans[:0], choices: t.choices[:0],
		decisions: t.decisions.emptied(),
	}
}

func (t *attempt) has(c cand) bool {
	_, ok := t.took[c]
	return ok
}

// choose takes the next possible option of a decision, which is choice n.
func (t *attempt) choose(ctx context.Context, n int, d decision) (cand, *need, bool) {
	if n > len(t.choices) {
		t.choices = append(t.choices, choice{by: d.by, set: len(t.set), bans: len(t.bans)})
	}
	if t.steps > 0 {
		t.steps++
	}
	x := &t.choices[n-1]
	x.took = noCand
	if d.kind == proof.Some {
		if x.next < len(d.kids) {
			x.next++
			return noCand, d.kids[x.next-1], true
		}
	} else if c := t.next(ctx, n, d.list); c != noCand {
		x.took = c
		return c, nil, true
	}
	t.fault = append(x.blame, x.by)
	return noCand, nil, false
}

// next takes the next possible option of choice n, and returns it, or noCand.
func (t *attempt) next(ctx context.Context, n int, list []cand) cand {
	x := &t.choices[n-1]
	for x.next < len(list) && ctx.Err() == nil {
		c := list[x.next]
		x.next++
		by, ok := t.take(ctx, c, n)
		if ok {
			return c
		}
		x.blame = blame(x.blame, by)
		t.steps++
	}
	return noCand
}

// requires notes what a candidate forbids. It returns false if a requirement cannot be
// satisfied, which would otherwise show up only many choices later.
func (t *attempt) requires(ctx context.Context, n *need) bool {
	switch n.kind {
	case proof.NoneOf:
		t.bans = append(t.bans, ban{n.expr, len(t.choices)})
	case proof.AnyOf:
		return t.steps == 0 || t.open(ctx, n) // the first time through, that is rarely worth it
	}
	return true
}

// open reports whether some candidate of a list is possible. If not, it sets fault.
func (t *attempt) open(ctx context.Context, n *need) bool {
	if at, ok := t.witness[n]; ok {
		if _, ok := t.possible(ctx, n.list[at]); ok {
			return true
		}
	}
	var fault []int
	for i, c := range n.list {
		if ctx.Err() != nil {
			break
		}
		by, ok := t.possible(ctx, c)
		if ok {
			if len(n.list) > long {
				if t.witness == nil {
					t.witness = map[*need]int{}
				}
				t.witness[n] = i
			}
			return true
		}
		fault = blame(fault, by)
		t.steps++
	}
	t.fault = append(fault, len(t.choices))
	return false
}

// blame adds a choice to a list, unless it is the last one there.
func blame(list []int, by int) []int {
	if len(list) > 0 && list[len(list)-1] == by {
		return list
	}
	return append(list, by)
}

// possible reports whether a candidate is in the set, or possible together with it. If not,
// possible returns the choice that excludes the candidate.
func (t *attempt) possible(ctx context.Context, c cand) (by int, ok bool) {
	if t.has(c) {
		return 0, true
	}
	if t.dead[c] || t.r.u.barred(ctx, c) != nil {
		return 0, false
	}
	m, clashes := t.clash(c, false)
	return t.took[m], !clashes
}

// take adds a candidate by choice n. If it is not possible together with the set, take returns
// the choice that excludes it.
func (t *attempt) take(ctx context.Context, c cand, n int) (by int, ok bool) {
	if t.dead[c] || t.r.u.barred(ctx, c) != nil {
		return 0, false
	}
	if m, clashes := t.clash(c, true); clashes {
		t.leave(c)
		return t.took[m], false
	}
	for _, in := range t.r.replacedBy[c] {
		if _, ok := t.replaced[in]; !ok {
			t.replaced[in] = c
		}
	}
	t.took[c] = n
	t.set = append(t.set, c)
	return 0, true
}

// clash returns a member of the set with which a candidate conflicts (D10). If enter is set, it
// adds the packages and APIs of the candidate, as far as it compares them.
func (t *attempt) clash(c cand, enter bool) (cand, bool) {
	// An upgrade replaces the installed operator, whatever packages the two declare.
	for _, in := range t.r.replacedBy[c] {
		if t.has(in) {
			return in, true
		}
	}
	if m, ok := t.replaced[c]; ok {
		return m, true
	}
	if p := t.r.u.pkg(c); p != "" {
		if m, ok := t.pkgs[p]; ok {
			return m, true
		}
		if enter {
			t.pkgs[p] = c
		}
	}
	for _, p := range t.r.u.further(c) {
		if m, ok := t.pkgs[p]; ok {
			return m, true
		}
		if enter {
			t.pkgs[p] = c
		}
	}
	with := noCand
	for g := range t.r.u.apis(c) {
		if m, ok := t.apis[g]; ok {
			with = m
			break
		}
		if enter {
			t.apis[g] = c
		}
	}
	return with, with != noCand
}

// leave removes the packages and APIs of a candidate.
func (t *attempt) leave(c cand) {
	if p := t.r.u.pkg(c); t.pkgs[p] == c {
		delete(t.pkgs, p)
	}
	for _, p := range t.r.u.further(c) {
		if t.pkgs[p] == c {
			delete(t.pkgs, p)
		}
	}
	for g := range t.r.u.apis(c) {
		if t.apis[g] == c {
			delete(t.apis, g)
		}
	}
}

// drop removes the candidate that was added last.
func (t *attempt) drop() {
	c := t.set[len(t.set)-1]
	t.set = t.set[:len(t.set)-1]
	delete(t.took, c)
	t.leave(c)
	for _, in := range t.r.replacedBy[c] {
		if t.replaced[in] == c {
			delete(t.replaced, in)
		}
	}
}

// back undoes the choices back to the last one that is to blame for a failure, and returns its
// number. Changing only those after it cannot help. ok is false if the set is complete, if
// there is none, or if backtrack gives up.
func (t *attempt) back(ctx context.Context, ended bool) (n int, ok bool) {
	if ended && !t.forbidden(ctx) {
		t.state = complete
		return 0, false
	}
	if ctx.Err() != nil {
		return 0, false
	}
	slices.Sort(t.fault)
	fault := slices.Compact(t.fault)
	t.fault = nil
	n = fault[len(fault)-1]
	if n == 0 {
		t.state = impossible
		return 0, false
	}
	if t.steps++; t.steps > t.limit+maxSteps*len(t.choices) {
		return 0, false
	}
	t.choices = t.choices[:n]
	x := &t.choices[n-1]
	fault = fault[:len(fault)-1]
	x.blame = append(x.blame, fault...)
	if x.took != noCand && !slices.ContainsFunc(fault, func(n int) bool { return n > 0 }) {
		if t.dead == nil {
			t.dead = map[cand]bool{}
		}
		t.dead[x.took] = true
	}
	for len(t.set) > x.set {
		t.drop()
	}
	t.bans = t.bans[:x.bans]
	return n, true
}

// forbidden reports whether a member of the set is forbidden. If so, it sets fault.
func (t *attempt) forbidden(ctx context.Context) bool {
	for _, x := range t.bans {
		if t.steps > 0 {
			t.steps++
		}
		if list := t.r.u.among(ctx, x.expr, t.set, t.has); len(list) > 0 {
			t.fault = []int{x.by, t.took[list[0]]}
			return true
		}
	}
	return false
}

// A scratch is memory that a resolution uses and then clears for the next one on the same
// goroutine.
type scratch struct {
	attempt attempt
	found   foundOffers
}
