package graph

import "slices"

// Blocking returns exclusions that together block all paths from a node to another one, or to
// the heads if to is the zero Node: each path takes at least one of them, and none of them could
// be left out. It returns none if there is a path, or if there would be none without exclusions
// either. They are in the order of [Upgrades.Nodes].
func (u *Upgrades) Blocking(from, to Node) []Exclusion { // G4
	i, ok := u.number(from)
	if !ok {
		return nil
	}
	targets := u.heads
	if to != (Node{}) {
		j, ok := u.number(to)
		if !ok {
			return nil
		}
		targets = []int32{j}
	}
	next := make([][]int32, len(u.nodes)) // as if nothing were excluded
	for n := range u.of {
		for _, s := range in(u.steps, u.of[n].steps) {
			next[n] = append(next[n], s.to)
		}
	}
	banned := make(map[[2]int32]bool, len(u.excluded))
	for _, x := range u.excluded {
		next[x.from] = append(next[x.from], x.to)
		banned[[2]int32{x.from, x.to}] = true
	}
	reached := reachable(next, i, banned)
	isTarget := func(reached []bool) bool {
		return slices.ContainsFunc(targets, func(t int32) bool { return reached[t] })
	}
	if isTarget(reached) || !isTarget(reachable(next, i, nil)) {
		return nil
	}
	// Each path leaves the reachable nodes by an exclusion. Drop those that are not needed.
	excluded := slices.DeleteFunc(slices.Clone(u.excluded), func(x excludedStep) bool { return !reached[x.from] || reached[x.to] })
	slices.SortFunc(excluded, func(a, b excludedStep) int {
		return slices.Compare([]int32{a.from, a.to}, []int32{b.from, b.to})
	})
	clear(banned)
	for _, x := range excluded {
		banned[[2]int32{x.from, x.to}] = true
	}
	var out []Exclusion
	for _, x := range excluded {
		step := [2]int32{x.from, x.to}
		delete(banned, step)
		if isTarget(reachable(next, i, banned)) {
			banned[step] = true
			out = append(out, Exclusion{u.nodes[x.from].Name, u.nodes[x.to].Name, x.reason})
		}
	}
	return out
}

// reachable returns which nodes are reachable from a node without banned steps.
func reachable(next [][]int32, from int32, banned map[[2]int32]bool) []bool {
	reached := make([]bool, len(next))
	reached[from] = true
	for queue := []int32{from}; len(queue) > 0; {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, to := range next[n] {
			if !reached[to] && !banned[[2]int32{n, to}] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}
