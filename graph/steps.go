package graph

import (
	"iter"
	"slices"
)

// Nodes returns all nodes: bundles by version, release and name, then names without a
// bundle by name, then all other installed nodes. Bundles without a valid version come
// first. Among bundles with equal versions the smaller name comes last, because v1 prefers
// the later node.
func (u *Upgrades) Nodes() iter.Seq[Node] { return slices.Values(u.nodes) }

// Bundle returns the bundle of a node, and false for a name without a bundle and for an
// unknown node.
func (u *Upgrades) Bundle(n Node) (Bundle, bool) {
	i, ok := u.number(n)
	if !ok || u.of[i].bundle == 0 {
		return Bundle{}, false
	}
	return Bundle{u.pkg.c, u.of[i].bundle - 1}, true
}

// IsVirtual reports whether a node is a name that only edges mention.
func (u *Upgrades) IsVirtual(n Node) bool { // B6
	i, ok := u.number(n)
	return ok && u.of[i].bundle == 0
}

// Named returns the node with the name, and false if there is not exactly one.
func (u *Upgrades) Named(name string) (Node, bool) {
	if list := u.named[name]; len(list) == 1 {
		return u.nodes[list[0]], true
	}
	return Node{}, false
}

// number returns the number of a node. A node without a version is looked up by name.
func (u *Upgrades) number(n Node) (int32, bool) {
	i, ok := u.numbers[n]
	if !ok && n.Version == "" && len(u.named[n.Name]) == 1 {
		return u.named[n.Name][0], true
	}
	return i, ok
}

// Heads returns the targets of upgrades: in classic the newest bundle of each channel
// that can be installed, in the order of the channels; in v1 the newest bundle of all.
// A channel that cannot be used has none.
func (u *Upgrades) Heads() []Node {
	out := make([]Node, len(u.heads))
	for i, h := range u.heads {
		out[i] = u.nodes[h]
	}
	return out
}

// Steps returns the nodes that can directly follow a node, preferred ones first. An
// unknown node has no steps: add it to [UpgradeOptions.Installed].
//
// A classic step may lead from a node to itself, if a skipRange includes its own
// bundle.
func (u *Upgrades) Steps(n Node) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		i, ok := u.number(n)
		if !ok {
			return
		}
		for _, s := range in(u.steps, u.of[i].steps) {
			if !yield(u.step(i, s)) {
				return
			}
		}
	}
}

// step returns a step with its reasons.
func (u *Upgrades) step(from int32, s stepRec) Step {
	out := Step{From: u.nodes[from], To: u.nodes[s.to]}
	for _, r := range in(u.reasons, s.reasons) {
		x := Reason{Edge: r.edge}
		if r.channel >= 0 {
			x.Channel = u.channels[r.channel].Name()
		}
		out.Reasons = append(out.Reasons, x)
	}
	return out
}

// Next returns the step that OLM takes if nothing blocks it, and false if the node stays. In
// v1 it stays unless a better node is available: one that is not deprecated, or one with a
// higher version.
func (u *Upgrades) Next(n Node) (Step, bool) {
	i, ok := u.number(n)
	if !ok {
		return Step{}, false
	}
	s, ok := u.next(i)
	if !ok {
		return Step{}, false
	}
	return u.step(i, s), true
}

func (u *Upgrades) next(i int32) (stepRec, bool) {
	r := &u.of[i]
	if r.steps.len() == 0 {
		return stepRec{}, false
	}
	s := u.steps[r.steps.from]
	if u.reading == V1 && r.candidate && u.better(i, s.to) {
		return stepRec{}, false
	}
	return s, true
}

// AllSteps returns every step, sorted by node, then preference.
func (u *Upgrades) AllSteps() iter.Seq[Step] {
	return func(yield func(Step) bool) {
		for i := range u.of {
			for _, s := range in(u.steps, u.of[i].steps) {
				if !yield(u.step(int32(i), s)) {
					return
				}
			}
		}
	}
}
