// Package chain computes the invariants of a channel's upgrade graph (A7): its
// heads, the chain of replaces from the head, cycles, and stranded entries.
// Entries are numbered by the caller, so that packages fbc and graph, which
// represent channels differently, share one answer.
package chain

// An Entry holds the edges of one channel entry to other entries of the channel.
// Names that are no entries are left out.
type Entry struct {
	Replaces int // -1 for none
	Skips    []int
}

// A Shape is what the edges of a channel amount to. Lists of entries are in
// ascending order unless they say otherwise.
type Shape struct {
	// Heads are the entries that no entry replaces or skips. A valid channel
	// has exactly one.
	Heads []int
	// Skipped tells for each entry whether an entry skips it.
	Skipped []bool
	// Chain is the way along replaces from the only head, the head first. It
	// is nil with none or several heads, and ends before it would enter a
	// cycle again.
	Chain []int
	// Cycles are the circles of replaces, also among skipped entries, each
	// beginning with its smallest entry, ordered by that.
	Cycles [][]int
	// Stranded are the entries that are not skipped and that the head does not
	// lead to by replaces without passing through a skipped entry: as that is
	// never offered, what it replaces is cut off. It is empty with none or
	// several heads, where everything would be.
	Stranded []int
}

// Of returns the shape of a channel.
func Of(entries []Entry) Shape {
	n := len(entries)
	s := Shape{Skipped: make([]bool, n)}
	covered := make([]bool, n)
	for _, e := range entries {
		if e.Replaces >= 0 {
			covered[e.Replaces] = true
		}
		for _, k := range e.Skips {
			covered[k], s.Skipped[k] = true, true
		}
	}
	for k := range n {
		if !covered[k] {
			s.Heads = append(s.Heads, k)
		}
	}
	s.Cycles = cycles(entries)
	if len(s.Heads) != 1 {
		return s
	}
	seen, reached := make([]bool, n), make([]bool, n)
	whole := true
	for k := s.Heads[0]; k >= 0 && !seen[k]; k = entries[k].Replaces {
		whole = whole && !s.Skipped[k]
		seen[k], reached[k] = true, whole
		s.Chain = append(s.Chain, k)
	}
	for k := range n {
		if !reached[k] && !s.Skipped[k] {
			s.Stranded = append(s.Stranded, k)
		}
	}
	return s
}

// cycles finds the circles of replaces. Each entry replaces at most one other,
// so a walk from any entry ends outside, in what was seen, or in a circle.
func cycles(entries []Entry) [][]int {
	var out [][]int
	walk := make([]int, len(entries)) // the number of the walk that came by
	for first := range entries {
		k := first
		for k >= 0 && walk[k] == 0 {
			walk[k] = first + 1
			k = entries[k].Replaces
		}
		if k < 0 || walk[k] != first+1 {
			continue
		}
		least := k
		for i := entries[k].Replaces; i != k; i = entries[i].Replaces {
			least = min(least, i)
		}
		circle := []int{least}
		for i := entries[least].Replaces; i != least; i = entries[i].Replaces {
			circle = append(circle, i)
		}
		out = append(out, circle)
	}
	return out
}
