// Package chain analyzes a channel's upgrade graph (A7): its heads, the
// replaces chain from the head, cycles, and stranded entries. Callers number
// the entries, so that packages fbc and graph, which represent channels
// differently, share one implementation.
package chain

// An Entry holds the edges from one channel entry to others. Names that are not
// entries are left out.
type Entry struct {
	Replaces int // -1 for none
	Skips    []int
}

// A Shape is the result of the analysis. Lists of entries are in ascending
// order unless noted otherwise.
type Shape struct {
	// Heads are the entries that no entry replaces or skips. A valid channel
	// has exactly one.
	Heads []int
	// Skipped reports, for each entry, whether another entry skips it.
	Skipped []bool
	// Chain is the replaces chain from the head, beginning with the head. It
	// stops before repeating an entry. It is nil unless there is exactly one
	// head.
	Chain []int
	// Cycles are the cycles of replaces, including those of skipped entries.
	// Each begins with its smallest entry, and they are sorted by it.
	Cycles [][]int
	// Stranded are the entries that are not skipped and not on the part of
	// Chain before its first skipped entry. A skipped entry is never offered,
	// so everything it replaces is cut off. It is empty unless there is exactly
	// one head.
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

// cycles finds the cycles of replaces. Each entry replaces at most one other,
// so a walk ends outside the channel, at a visited entry, or in a new cycle.
func cycles(entries []Entry) [][]int {
	var out [][]int
	walk := make([]int, len(entries)) // the number of the walk that visited an entry
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
