package sat

// A propagation does unit propagation: if all literals of a clause but one are
// false, that one must be true. It finds less than a search, in time
// proportional to what it finds. The latest literals can be undone.
type propagation struct {
	*Solver
	value   []int8    // of each literal: 1 when it holds, -1 when its negation does
	forced  []Lit     // literals that hold, in order of discovery
	done    int       // how many of forced have been propagated
	watched [][]int32 // for each literal, the clauses that watch it
	added   int       // how many clauses are watched
	next    []int32   // for each clause, where the last search for a literal ended
}

// propagation returns the consequences of the clauses alone, including those
// added since the last call. ok is false if the clauses contradict each other.
func (s *Solver) propagation() (p *propagation, ok bool) {
	if s.prop == nil {
		s.prop = &propagation{Solver: s}
	}
	p = s.prop
	p.undo(0)
	p.grow()
	for ; p.added < len(s.starts); p.added++ {
		p.next = append(p.next, 2)
		if c := p.clause(p.added); len(c) > 1 {
			p.watched[c[0]] = append(p.watched[c[0]], int32(p.added))
			p.watched[c[1]] = append(p.watched[c[1]], int32(p.added))
		}
	}
	for _, n := range s.units {
		if c := p.clause(int(n)); len(c) == 0 || !p.hold(c[0]) {
			return p, false
		}
	}
	return p, true
}

// grow makes room for new literals.
func (p *propagation) grow() {
	if n := 2*(p.vars+2) - len(p.value); n > 0 {
		p.value = append(p.value, make([]int8, n)...)
		p.watched = append(p.watched, make([][]int32, n)...)
	}
}

// clause returns the literals of a clause, of which the first two are watched.
func (p *propagation) clause(n int) []Lit {
	if n+1 < len(p.starts) {
		return p.stated[p.starts[n]:p.starts[n+1]]
	}
	return p.stated[p.starts[n]:]
}

// undo forgets all but the first n literals that hold.
func (p *propagation) undo(n int) {
	for _, l := range p.forced[n:] {
		p.value[l], p.value[l.Not()] = 0, 0
	}
	p.forced, p.done = p.forced[:n], min(p.done, n)
}

// hold adds a literal and its consequences. It returns false if they contradict
// literals that hold.
func (p *propagation) hold(l Lit) bool {
	if !p.assign(l) {
		return false
	}
	for ; p.done < len(p.forced); p.done++ {
		if !p.follow(p.forced[p.done].Not()) {
			return false
		}
	}
	return true
}

func (p *propagation) assign(l Lit) bool {
	if p.value[l] == 0 {
		p.value[l], p.value[l.Not()] = 1, -1
		p.forced = append(p.forced, l)
	}
	return p.value[l] > 0
}

// follow derives the consequences of a literal that became false. Each clause
// that watches it either switches to another literal or forces the last one
// left.
func (p *propagation) follow(no Lit) (ok bool) {
	list := p.watched[no]
	kept := 0
	defer func() { p.watched[no] = list[:kept] }()
	for i, n := range list {
		c := p.clause(int(n))
		if c[0] == no {
			c[0], c[1] = c[1], c[0]
		}
		if p.value[c[0]] <= 0 && p.watchOther(c, n) {
			continue
		}
		list[kept] = n
		kept++
		if !p.assign(c[0]) {
			kept += copy(list[kept:], list[i+1:])
			return false
		}
	}
	return true
}

// watchOther makes a clause watch a literal that is not false instead of its
// second one. It resumes the search where the last one ended, so that a long
// clause whose literals become false one by one is scanned only once.
func (p *propagation) watchOther(c []Lit, n int32) bool {
	if len(c) == 2 {
		return false
	}
	at := int(p.next[n])
	for range len(c) - 2 {
		if at++; at >= len(c) {
			at = 2
		}
		if p.value[c[at]] >= 0 {
			c[1], c[at] = c[at], c[1]
			p.watched[c[1]] = append(p.watched[c[1]], n)
			p.next[n] = int32(at)
			return true
		}
	}
	return false
}
