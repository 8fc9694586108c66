package graph

import "slices"

// A Disagreement is a node that classic OLM and OLM v1 upgrade differently.
type Disagreement struct {
	From Node `json:"from"`
	// Classic and V1 are the next steps, nil if the node stays.
	Classic *Step `json:"classic,omitzero"`
	V1      *Step `json:"v1,omitzero"`
	// OnlyClassic and OnlyV1 are the nodes that are reachable under one reading
	// only.
	OnlyClassic []Node `json:"onlyClassic,omitempty"`
	OnlyV1      []Node `json:"onlyV1,omitempty"`
}

// Disagreements returns the nodes whose next steps lead to different bundles under the
// two readings, or from which different nodes are reachable, in the order of
// [Upgrades.Nodes]. The options apply to both readings. It returns none if either has
// an [Upgrades.Err].
func (p Package) Disagreements(opts *UpgradeOptions) []Disagreement { // G4
	classic, v1 := p.Upgrades(Classic, opts), p.Upgrades(V1, opts)
	// The nodes are the same under both readings, and so are their numbers.
	parts := differing(classic, v1)
	var out []Disagreement
	for i, from := range v1.nodes {
		d := Disagreement{From: from}
		if s, ok := classic.Next(from); ok && s.To != from {
			d.Classic = &s
		}
		if s, ok := v1.Next(from); ok {
			d.V1 = &s
		}
		if parts[i] {
			d.OnlyClassic, d.OnlyV1 = only(classic, v1, int32(i))
		}
		next := (d.Classic == nil) != (d.V1 == nil) || d.Classic != nil && d.Classic.To != d.V1.To
		if next || len(d.OnlyClassic) > 0 || len(d.OnlyV1) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// differing marks the nodes that can reach, in any number of steps, a node whose steps
// differ. All others reach the same nodes under both readings.
func differing(a, b *Upgrades) []bool {
	into := make([][]int32, len(b.nodes))
	seen := make([]bool, len(b.nodes))
	var queue []int32
	for i := range b.of {
		for _, s := range in(b.steps, b.of[i].steps) {
			into[s.to] = append(into[s.to], int32(i))
		}
		if !slices.Equal(a.targets(int32(i)), b.targets(int32(i))) {
			seen[i] = true
			queue = append(queue, int32(i))
		}
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, j := range into[i] {
			if !seen[j] {
				seen[j] = true
				queue = append(queue, j)
			}
		}
	}
	return seen
}

// targets returns the numbers of the other nodes to which the steps of a node lead, in
// ascending order.
func (u *Upgrades) targets(i int32) []int32 {
	var out []int32
	for _, s := range in(u.steps, u.of[i].steps) {
		if s.to != i {
			out = append(out, s.to)
		}
	}
	slices.Sort(out)
	return out
}

// only returns x, the nodes that can be reached from a node in a but not in b, and y, those
// that can be reached in b but not in a.
func only(a, b *Upgrades, from int32) (x, y []Node) {
	never := func(int32) bool { return false }
	byA, byB := a.search(from, never), b.search(from, never)
	for j := range byA {
		switch one, other := byA[j].from >= 0, byB[j].from >= 0; {
		case one && !other:
			x = append(x, a.nodes[j])
		case other && !one:
			y = append(y, b.nodes[j])
		}
	}
	return x, y
}
