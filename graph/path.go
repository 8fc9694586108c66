package graph

import (
	"iter"
	"slices"
)

// A Walk is the path that OLM takes from a node, one step at a time, if nothing blocks
// it.
type Walk struct {
	Steps []Step `json:"steps,omitzero"`
	// End is the last node, or the node that the walk returns to.
	End Node `json:"end"`
	// Loops is true if the last step leads to a node that was installed before. This
	// happens if a skipRange includes a version newer than its entry, or the version of its
	// entry.
	Loops bool `json:"loops,omitzero"`
	// AtHead is true if End is one of [Upgrades.Heads].
	AtHead bool `json:"atHead"`
}

// Walk follows [Upgrades.Next] until the node stays or repeats.
func (u *Upgrades) Walk(from Node) Walk { // B5
	w := Walk{Steps: []Step{}, End: from}
	i, ok := u.number(from)
	if !ok {
		return w
	}
	seen := make([]bool, len(u.nodes))
	for {
		seen[i] = true
		s, ok := u.next(i)
		if !ok {
			break
		}
		w.Steps = append(w.Steps, u.step(i, s))
		i = s.to
		if seen[i] {
			w.Loops = true
			break
		}
	}
	w.End, w.AtHead = u.nodes[i], slices.Contains(u.heads, i)
	return w
}

// Path returns the shortest list of steps from one node to another, and false if there is
// none. If there are several, it returns the one with the preferred steps. The path from a
// node to itself is empty.
func (u *Upgrades) Path(from, to Node) ([]Step, bool) {
	i, ok := u.number(from)
	if !ok {
		return nil, false
	}
	j, ok := u.number(to)
	if !ok {
		return nil, false
	}
	via := u.search(i, func(n int32) bool { return n == j })
	return u.back(via, i, j)
}

// PathToHead returns the shortest list of steps from a node to a head, and false if the
// node is stranded.
func (u *Upgrades) PathToHead(from Node) ([]Step, bool) {
	i, ok := u.number(from)
	if !ok {
		return nil, false
	}
	found := int32(-1)
	via := u.search(i, func(n int32) bool {
		if slices.Contains(u.heads, n) {
			found = n
		}
		return found >= 0
	})
	if found < 0 {
		return nil, false
	}
	return u.back(via, i, found)
}

// Paths are the shortest paths from one node to all reachable nodes, found by one
// search. They are immutable and safe for concurrent use.
type Paths struct {
	u    *Upgrades
	from int32 // -1 if the node is unknown
	via  []hop
}

// Paths searches from a node. Use it to query many targets; for one target,
// [Upgrades.Path] stops its search earlier.
func (u *Upgrades) Paths(from Node) *Paths {
	i, ok := u.number(from)
	if !ok {
		return &Paths{u: u, from: -1}
	}
	return &Paths{u, i, u.search(i, func(int32) bool { return false })}
}

// Hops returns the number of steps of the shortest path to a node, and false if there
// is none.
func (p *Paths) Hops(to Node) (int, bool) {
	j, ok := p.u.number(to)
	if !ok || p.from < 0 || p.via[j].from < 0 {
		return 0, false
	}
	return int(p.via[j].dist), true
}

// Path returns the shortest list of steps to a node, like [Upgrades.Path].
func (p *Paths) Path(to Node) ([]Step, bool) {
	j, ok := p.u.number(to)
	if !ok || p.from < 0 {
		return nil, false
	}
	return p.u.back(p.via, p.from, j)
}

// A hop records how a search reached a node: from which node, and by which step of that
// node.
type hop struct {
	from int32 // -1 when it was not reached
	step uint32
	dist int32
}

// search searches breadth first from a node until a node satisfies stop (B5, G4).
func (u *Upgrades) search(from int32, stop func(int32) bool) []hop {
	via := make([]hop, len(u.nodes))
	for i := range via {
		via[i].from = -1
	}
	via[from] = hop{from: from}
	if stop(from) {
		return via
	}
	queue := make([]int32, 1, len(u.nodes))
	queue[0] = from
	for n := 0; n < len(queue); n++ {
		i := queue[n]
		s := u.of[i].steps
		for k := s.from; k < s.to; k++ {
			to := u.steps[k].to
			if via[to].from >= 0 {
				continue
			}
			via[to] = hop{i, k, via[i].dist + 1}
			if stop(to) {
				return via
			}
			queue = append(queue, to)
		}
	}
	return via
}

// back returns the steps from node i to node j that a search recorded in via, and false if
// it did not reach j.
func (u *Upgrades) back(via []hop, i, j int32) ([]Step, bool) {
	if via[j].from < 0 {
		return nil, false
	}
	out := make([]Step, via[j].dist)
	for n := len(out) - 1; j != i; n-- {
		h := via[j]
		out[n] = u.step(h.from, u.steps[h.step])
		j = h.from
	}
	return out, true
}

// Reachable returns the nodes that are reachable from a node, without the node itself,
// in the order of [Upgrades.Nodes].
func (u *Upgrades) Reachable(from Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		i, ok := u.number(from)
		if !ok {
			return
		}
		for j, h := range u.search(i, func(int32) bool { return false }) {
			if h.from >= 0 && int32(j) != i && !yield(u.nodes[j]) {
				return
			}
		}
	}
}

// Stranded returns the nodes from which no head is reachable, in the order of
// [Upgrades.Nodes]. Users of a stranded node cannot upgrade. Without a head all nodes
// are stranded.
func (u *Upgrades) Stranded() iter.Seq[Node] { // G4
	into := make([][]int32, len(u.nodes))
	for i := range u.of {
		for _, s := range in(u.steps, u.of[i].steps) {
			into[s.to] = append(into[s.to], int32(i))
		}
	}
	reached := make([]bool, len(u.nodes))
	queue := slices.Clone(u.heads)
	for _, h := range queue {
		reached[h] = true
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, j := range into[i] {
			if !reached[j] {
				reached[j] = true
				queue = append(queue, j)
			}
		}
	}
	return func(yield func(Node) bool) {
		for i, ok := range reached {
			if !ok && !yield(u.nodes[i]) {
				return
			}
		}
	}
}
