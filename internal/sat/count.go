package sat

import (
	"iter"
	"slices"
)

// A solver learns clauses one at a time and cannot count: it would take years
// to prove that a dozen operators do not fit into eleven places. So the solver
// records demands (at least one of some literals) and limits (at most one of
// some literals), and before each search counts whether the demands fit into
// the limits (Overfull). If they do not, it adds a clause that states this, and
// the search ends at once.

// A demand requires one of some literals while all of when hold. Demands with
// the same group number share these literals.
type demand struct {
	when, of []Lit
	group    int
}

// A limit allows one of some literals while on holds.
type limit struct {
	on Lit
	of []Lit
}

// Demand records a fact that the clauses already imply: if all of when hold,
// one of ls does. Without ls, not all of when can hold. It is used only for
// counting. The solver keeps both slices, and processes ls once for all demands
// that share the slice.
func (s *Solver) Demand(when, ls []Lit) {
	n := len(s.demands)
	group := 0 // of those without literals
	if len(ls) > 0 {
		if known, ok := s.groups[&ls[0]]; ok {
			group = known
		} else {
			group = len(s.groups) + 1
			s.groups[&ls[0]] = group
		}
	}
	s.demands = append(s.demands, demand{when, ls, group})
	for _, l := range when {
		s.asking.add(l, n)
	}
}

// A tally propagates assumptions through demands and limits.
type tally struct {
	*Solver
	value   []int8 // of each literal: 1 when it holds, -1 when its negation does
	forced  []Lit  // literals that hold, in order of discovery
	waiting []int  // for each demand, how many literals of when do not hold yet
	active  []int  // demands whose when all hold
	used    []bool // limits of which one literal holds
	// looked caches the results of left by group of demands.
	looked []look
	pass   int
}

// A look is a result of left in a pass.
type look struct {
	pass  int
	first Lit
	left  int
}

// cut adds a clause that contradicts the assumptions if demands do not fit into
// their limits.
func (s *Solver) cut(assume []Lit) {
	if len(s.limits) == 0 || len(s.demands) < 2 {
		return
	}
	t := tally{
		Solver: s, value: s.values, active: s.active[:0], forced: s.forced[:0],
		waiting: slices.Grow(s.waiting[:0], len(s.demands))[:len(s.demands)],
		used:    slices.Grow(s.used[:0], len(s.limits))[:len(s.limits)],
		looked:  make([]look, len(s.groups)+1),
	}
	if n := 2 * (s.vars + 2); len(t.value) < n {
		t.value = make([]int8, n)
	}
	for n := range s.demands {
		t.waiting[n] = len(s.demands[n].when)
	}
	clear(t.used)
	t.hold(s.yes)
	for _, l := range assume {
		t.hold(l)
	}
	t.follow()
	over, by := t.overfull()
	if over != nil {
		s.Clause(t.clause(over, by)...)
	}
	for _, l := range t.forced {
		t.value[l], t.value[l.Not()] = 0, 0
	}
	s.values, s.forced, s.waiting, s.active, s.used = t.value, t.forced, t.waiting, t.active, t.used
}

// clause returns the clause that follows if the demands in over do not fit into the
// limits in by: one of these demands or limits does not apply, or a literal that was left
// out of the count holds.
func (t *tally) clause(over, by []int) []Lit {
	var out []Lit
	seen := map[Lit]bool{}
	add := func(l Lit) {
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	for _, n := range by {
		add(t.limits[n].on.Not())
	}
	for _, n := range over {
		for _, l := range t.demands[n].when {
			add(l.Not())
		}
		for _, l := range t.demands[n].of {
			if t.value[l] != 0 {
				add(l)
			}
		}
	}
	return out
}

// hold records that a literal holds, unless it is already false. In that case the search
// will find the contradiction.
func (t *tally) hold(l Lit) {
	if t.value[l] == 0 {
		t.value[l], t.value[l.Not()] = 1, -1
		t.forced = append(t.forced, l)
	}
}

// passes is the number of times that follow checks all demands. The search
// finds what it misses.
const passes = 4

// follow finds the forced literals.
func (t *tally) follow() {
	at := 0
	draw := func() {
		for ; at < len(t.forced); at++ {
			t.took(t.forced[at])
		}
	}
	draw()
	for range passes {
		before := len(t.forced)
		t.pass++
		for i := 0; i < len(t.active); i++ {
			if l, left := t.left(t.active[i]); left == 1 {
				t.hold(l)
				draw()
			}
		}
		if len(t.forced) == before {
			return
		}
	}
}

// took derives the consequences of a literal that holds.
func (t *tally) took(l Lit) {
	for n := range t.asking.of(l) {
		d := &t.demands[n]
		if t.waiting[n]--; t.waiting[n] == 0 {
			t.active = append(t.active, n)
		}
		if len(d.of) == 0 && len(d.when) == 2 {
			other := d.when[0]
			if other == l {
				other = d.when[1]
			}
			t.hold(other.Not())
		}
	}
	for n := range t.limiting.of(l) {
		if t.used[n] || t.value[t.limits[n].on] <= 0 {
			continue
		}
		t.used[n] = true
		for _, other := range t.limits[n].of {
			if other != l {
				t.hold(other.Not())
			}
		}
	}
}

// left returns the number of literals of a demand that may still hold and the
// first of them, or 0 if one holds already.
func (t *tally) left(n int) (first Lit, left int) {
	x := &t.looked[t.demands[n].group]
	if x.pass != t.pass {
		*x = look{pass: t.pass}
		for _, l := range t.demands[n].of {
			if t.value[l] > 0 {
				x.first, x.left = l, 0
				break
			}
			if t.value[l] == 0 {
				if x.left++; x.left == 1 {
					x.first = l
				}
			}
		}
	}
	return x.first, x.left
}

// overfull returns the numbers of demands and limits that do not fit.
func (t *tally) overfull() (over, by []int) {
	var demands, limits [][]Lit
	var demandOf, limitOf []int
	t.pass++
	counted := map[int]bool{} // by group: one demand of each is enough
	// For each literal, 1 + the index of the last demand that contains it.
	if n := len(t.value); len(t.Solver.wanted) < n {
		t.Solver.wanted = make([]int32, n)
	}
	wanted := t.Solver.wanted
	defer func() {
		for _, of := range demands {
			for _, l := range of {
				wanted[l] = 0
			}
		}
	}()
	for _, n := range t.active {
		if _, left := t.left(n); left < 2 || counted[t.demands[n].group] {
			continue
		}
		counted[t.demands[n].group] = true
		of := slices.DeleteFunc(slices.Clone(t.demands[n].of), func(l Lit) bool { return t.value[l] != 0 })
		for _, l := range of {
			wanted[l] = int32(len(demands)) + 1
		}
		demands, demandOf = append(demands, of), append(demandOf, n)
	}
	if len(demands) < 2 {
		return nil, nil
	}
	for n, x := range t.limits {
		if t.used[n] || t.value[x.on] <= 0 {
			continue
		}
		first, shared := -1, false
		for _, l := range x.of {
			if d := int(wanted[l]) - 1; d >= 0 {
				shared = shared || first >= 0 && first != d
				first = d
			}
		}
		if shared {
			of := slices.DeleteFunc(slices.Clone(x.of), func(l Lit) bool { return wanted[l] == 0 })
			limits, limitOf = append(limits, of), append(limitOf, n)
		}
	}
	if len(limits) == 0 {
		return nil, nil
	}
	over, by = Overfull(demands, limits)
	for i, n := range over {
		over[i] = demandOf[n]
	}
	for i, n := range by {
		by[i] = limitOf[n]
	}
	return over, by
}

// Postings map literals to lists of numbers in little memory.
type postings struct {
	last  []int32 // for each literal, 1 + the index of its last link
	links []link
}

type link struct{ n, before int32 }

func (p *postings) add(l Lit, n int) {
	if need := int(l) + 1; need > len(p.last) {
		p.last = slices.Grow(p.last, need-len(p.last))[:need]
	}
	p.links = append(p.links, link{int32(n), p.last[l]})
	p.last[l] = int32(len(p.links))
}

// of returns the numbers of a literal in reverse order.
func (p *postings) of(l Lit) iter.Seq[int] {
	return func(yield func(int) bool) {
		if int(l) >= len(p.last) {
			return
		}
		for at := p.last[l]; at > 0; at = p.links[at-1].before {
			if !yield(int(p.links[at-1].n)) {
				return
			}
		}
	}
}
