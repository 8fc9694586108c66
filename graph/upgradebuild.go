package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
)

// An upgradeBuilder collects the arcs between nodes before they become steps.
type upgradeBuilder struct {
	*Upgrades
	opts  *UpgradeOptions
	arcs  [][]arc // by the node that they start from
	count int     // the number of arcs
}

// An arc is one reason for one step.
type arc struct {
	to   int32
	rank int32 // place of the target in the order of preference
	reasonRec
}

func (b *upgradeBuilder) node(n Node, bundle uint32, v *semver.Version) int32 {
	if i, ok := b.numbers[n]; ok {
		return i
	}
	i := int32(len(b.nodes))
	b.numbers[n] = i
	b.named[n.Name] = append(b.named[n.Name], i)
	b.nodes = append(b.nodes, n)
	b.of = append(b.of, nodeRec{bundle: bundle, version: v})
	return i
}

// addNodes adds the bundles by version, release and name, then the names without a bundle,
// then other installed nodes (B6).
func (b *upgradeBuilder) addNodes() {
	c := b.pkg.c
	type item struct {
		Bundle
		version VersionRelease
		known   bool
	}
	var list []item
	seen := map[uint32]bool{}
	virtual := map[string]bool{}
	for _, ch := range b.channels {
		for e := range ch.Entries() {
			if x, ok := e.Bundle(); ok && !seen[x.i] {
				seen[x.i] = true
				v, known := x.VersionRelease()
				list = append(list, item{x, v, known})
			}
			virtual[e.Name()] = true
			if e.Replaces() != "" {
				virtual[e.Replaces()] = true
			}
			for s := range e.Skips() {
				virtual[s] = true
			}
		}
	}
	slices.SortFunc(list, func(x, y item) int {
		if x.known != y.known {
			if y.known {
				return -1 // no version: the oldest
			}
			return 1
		}
		return cmp.Or(x.version.Compare(y.version), -cmp.Compare(x.i, y.i))
	})
	for at, x := range list {
		n := c.nodeOf(x.Bundle)
		var v *semver.Version
		if x.known {
			full := x.Bundle.Version()
			v = &full
		}
		i := b.node(n, x.i+1, v)
		b.order = append(b.order, int32(at))
		r := &b.of[i]
		_, r.deprecated = x.Deprecation()
		r.candidate = (b.opts.Without == nil || !b.opts.Without(x.Bundle))
		if b.reading == Classic {
			r.candidate = r.candidate && x.Err() == nil && !x.IsProhibited()
		} else {
			r.candidate = r.candidate && x.known
		}
	}
	names := make([]string, 0, len(virtual))
	for name := range virtual {
		if len(b.named[name]) > 0 {
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		// A bundle of another channel that an edge mentions has a known
		// version.
		if x, ok := b.pkg.Bundle(name); ok && x.HasVersion() {
			v := x.Version()
			b.node(c.nodeOf(x), x.i+1, &v)
			continue
		}
		b.node(Node{Name: name}, 0, nil)
	}
	for _, n := range b.opts.Installed {
		var v *semver.Version
		if got, err := semver.Parse(n.Version); err == nil {
			v = &got
		}
		if n.Version == "" && len(b.named[n.Name]) > 0 {
			continue
		}
		b.node(n, 0, v)
	}
}

// nodeOf returns the node of a bundle.
func (c *Catalog) nodeOf(x Bundle) Node {
	n := Node{Name: x.Name()}
	if x.HasVersion() {
		n.Version = x.Version().String()
	}
	return n
}

// Node returns the bundle as a node of the upgrade graph.
func (b Bundle) Node() Node { return b.c.nodeOf(b) }

// addArcs finds every reason for every step.
func (b *upgradeBuilder) addArcs() {
	b.arcs = make([][]arc, len(b.nodes))
	for i, ch := range b.channels {
		if b.reading == Classic {
			rank := int32(0)
			for e := range ch.Order() {
				b.entry(e, int32(i), rank)
				rank++
			}
			continue
		}
		for e := range ch.Entries() {
			b.entry(e, int32(i), 0)
		}
	}
	if b.reading == V1 && b.opts.OtherEdges {
		b.otherEdges()
	}
	if b.reading == V1 && b.err == nil {
		b.sameVersion()
	}
}

// otherEdges adds the edges of other channels to bundles of the selected channels.
func (b *upgradeBuilder) otherEdges() {
	asked := len(b.channels)
	for ch := range b.pkg.Channels() {
		if slices.Contains(b.channels[:asked], ch) {
			continue
		}
		b.channels = append(b.channels, ch)
		for e := range ch.Entries() {
			b.entry(e, int32(len(b.channels)-1), 0)
		}
	}
}

// entry adds the arcs that an entry admits.
func (b *upgradeBuilder) entry(e Entry, channel, rank int32) {
	x, ok := e.Bundle()
	if !ok {
		return
	}
	to, ok := b.numbers[b.pkg.c.nodeOf(x)]
	if !ok || !b.of[to].candidate {
		return
	}
	add := func(from int32, kind Edge) {
		if b.err != nil {
			return
		}
		if b.count++; b.count > cmp.Or(b.opts.MaxSteps, maxSteps) {
			b.tooMany()
			return
		}
		if from == to && b.reading == V1 {
			return // it may stay in any case
		}
		b.arcs[from] = append(b.arcs[from], arc{to, rank, reasonRec{channel, kind}})
	}
	for _, from := range b.named[e.Replaces()] {
		add(from, Replaces)
	}
	for s := range e.Skips() {
		for _, from := range b.named[s] {
			add(from, Skips)
		}
	}
	if q := e.skipRange(); q != nil && b.err == nil {
		for i := range b.of {
			if v := b.of[i].version; v != nil && q.Contains(*v) {
				add(int32(i), SkipRange)
			}
		}
	}
}

// tooMany records that there are too many upgrades.
func (b *upgradeBuilder) tooMany() {
	b.err = fmt.Errorf("package %q has more than %d possible upgrades; select fewer channels, or raise MaxSteps", b.pkg.Name(), b.count-1)
	clear(b.arcs)
}

// skipRange returns the range of the entry, or nil if it has no valid one.
func (e Entry) skipRange() *constraints.Range {
	if r := e.rec().skipRange; r > 0 {
		if rng, err := e.c.skipRange(r - 1); err == nil {
			return &rng
		}
	}
	return nil
}

// sameVersion adds the arcs between nodes with the same version and release.
func (b *upgradeBuilder) sameVersion() {
	groups := map[string][]int32{}
	text := make([]string, len(b.of))
	for i := range b.of {
		if v := b.of[i].version; v != nil {
			text[i] = releaseKey(*v)
			if b.of[i].candidate {
				groups[text[i]] = append(groups[text[i]], int32(i))
			}
		}
	}
	for i := range b.of {
		if b.of[i].version == nil {
			continue
		}
		for _, to := range groups[text[i]] {
			if b.count++; b.count > cmp.Or(b.opts.MaxSteps, maxSteps) {
				b.tooMany()
				return
			}
			if to != int32(i) {
				b.arcs[i] = append(b.arcs[i], arc{to, 0, reasonRec{-1, SameVersion}})
			}
		}
	}
}

// releaseKey returns the same text for versions that v1 treats as equal: build metadata
// counts only if it is a release.
func releaseKey(v semver.Version) string {
	k := ReadRelease(v).Version
	k.Build = nil
	if r := ReadRelease(v); len(r.Release) > 0 {
		k.Build = v.Build
	}
	return k.String()
}

// addHeads finds the targets of upgrades: in classic the newest installable bundle of each
// channel, in v1 the newest of all.
func (b *upgradeBuilder) addHeads() {
	if b.reading == V1 {
		best := int32(-1)
		for i := range b.of {
			if b.of[i].candidate && (best < 0 || b.better(int32(i), best)) {
				best = int32(i)
			}
		}
		if best >= 0 {
			b.heads = []int32{best}
		}
		return
	}
	for _, ch := range b.channels {
		for e := range ch.Order() {
			x, _ := e.Bundle()
			if i := b.numbers[b.pkg.c.nodeOf(x)]; b.of[i].candidate {
				if !slices.Contains(b.heads, i) {
					b.heads = append(b.heads, i)
				}
				break
			}
		}
	}
}

// better reports whether v1 prefers x to y. It prefers bundles that are not deprecated, then
// the higher version, then the smaller name.
func (u *Upgrades) better(x, y int32) bool {
	if u.of[x].deprecated != u.of[y].deprecated {
		return u.of[y].deprecated
	}
	return u.order[x] > u.order[y]
}

// finish sorts the arcs of each node by preference and joins arcs to the same target.
func (b *upgradeBuilder) finish() {
	first := make([]int32, len(b.nodes))
	for i := range first {
		first[i] = -1
	}
	for i, arcs := range b.arcs {
		slices.SortFunc(arcs, func(x, y arc) int {
			if b.reading == V1 {
				if x.to != y.to {
					if b.better(x.to, y.to) {
						return -1
					}
					return 1
				}
				return cmp.Or(cmp.Compare(uint32(x.channel), uint32(y.channel)), cmp.Compare(x.edge, y.edge))
			}
			return cmp.Or(cmp.Compare(x.channel, y.channel), cmp.Compare(x.rank, y.rank), cmp.Compare(x.edge, y.edge))
		})
		b.join(i, arcs, first)
		b.arcs[i] = nil
	}
}

// join turns the sorted arcs of a node into steps: one for each target, at the position of
// its first arc. All elements of first are -1 before and after.
func (b *upgradeBuilder) join(node int, arcs []arc, first []int32) {
	s := span{from: uint32(len(b.Upgrades.steps))}
	for i, a := range arcs {
		if i > 0 && arcs[i-1] == a {
			continue // an entry that skips a name twice
		}
		at := first[a.to]
		if at < 0 {
			at = int32(len(b.Upgrades.steps))
			first[a.to] = at
			b.Upgrades.steps = append(b.Upgrades.steps, stepRec{to: a.to})
		}
		b.Upgrades.steps[at].reasons.to++ // counts, for now
	}
	s.to = uint32(len(b.Upgrades.steps))
	next := uint32(len(b.reasons))
	for i := s.from; i < s.to; i++ {
		r := &b.Upgrades.steps[i].reasons
		next, r.from, r.to = next+r.to, next, next
	}
	b.reasons = slices.Grow(b.reasons, int(next)-len(b.reasons))[:next]
	for i, a := range arcs {
		if i > 0 && arcs[i-1] == a {
			continue
		}
		r := &b.Upgrades.steps[first[a.to]].reasons
		b.reasons[r.to] = a.reasonRec
		r.to++
	}
	for i := s.from; i < s.to; i++ {
		first[b.Upgrades.steps[i].to] = -1
	}
	b.of[node].steps = s
}
