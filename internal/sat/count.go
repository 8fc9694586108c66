package sat

import (
	"iter"
	"slices"
)

// A solver learns from clauses one at a time and cannot count: that a dozen
// operators do not fit into eleven places takes it years. So what asks for one of
// several literals (a demand) and what allows one of several (a limit) are
// remembered, and before each search it is counted whether they fit (Overfull).
// Where they do not, a clause says so, and the search ends at once.

// A demand wants one of some literals while all of when hold. Demands with one number
// share these literals.
type demand struct {
	when, of []Lit
	group    int
}

// A limit allows one of some literals while on holds.
type limit struct {
	on Lit
	of []Lit
}

// Demand tells the solver of something that its clauses state already: when all of
// when hold, one of ls does; without ls, not all of when hold. It is for counting
// only. The solver keeps both slices. It looks at a slice once for all demands that
// share it.
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

// A tally follows what assumptions force, as far as demands and limits tell.
type tally struct {
	*Solver
	value   []int8 // of each literal: 1 when it holds, -1 when its negation does
	forced  []Lit  // what holds, in the order in which that was found
	waiting []int  // for each demand, how many of its when do not hold yet
	active  []int  // demands of which all of when hold
	used    []bool // limits of which one literal holds
	// looked is what left returned for each group of demands in this pass.
	looked []look
	pass   int
}

// A look is what was left of the literals of a demand in a pass.
type look struct {
	pass  int
	first Lit
	left  int
}

// cut states a clause that contradicts the assumptions, when counting shows that
// demands do not fit into their limits.
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

// clause says that demands do not fit into limits, unless one of them does not
// count, or something that was left out of the count holds.
func (t *tally) clause(over, by []int) []Lit {
	var out []Lit
	said := map[Lit]bool{}
	say := func(l Lit) {
		if !said[l] {
			said[l] = true
			out = append(out, l)
		}
	}
	for _, n := range by {
		say(t.limits[n].on.Not())
	}
	for _, n := range over {
		for _, l := range t.demands[n].when {
			say(l.Not())
		}
		for _, l := range t.demands[n].of {
			if t.value[l] != 0 {
				say(l)
			}
		}
	}
	return out
}

// hold notes that a literal holds, unless it is known not to: then the search
// finds the contradiction.
func (t *tally) hold(l Lit) {
	if t.value[l] == 0 {
		t.value[l], t.value[l.Not()] = 1, -1
		t.forced = append(t.forced, l)
	}
}

// passes is how often follow looks at all demands again. What it leaves out is
// found by the search all the same.
const passes = 4

// follow finds what is forced.
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

// took draws the conclusions of a literal that holds.
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

// left returns how many literals of a demand may still hold, and the first of
// them; none when one holds.
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
	counted := map[int]bool{} // groups: one demand of each says all
	// 1 + the last of the demands that has a literal, by literal.
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

// Postings list numbers for each literal, in little memory.
type postings struct {
	last  []int32 // of each literal, 1 + the place of its last link
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

// of returns the numbers of a literal, the last first.
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
