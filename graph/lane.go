package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/version"
)

// A spot is a node with its possible successors, which are found on demand.
type spot struct {
	Node
	id      int
	version *semver.Version // nil when unknown
	links   []link
	linked  bool
}

// A link is an upgrade to a bundle by one edge. It does not record what it upgrades.
type link struct {
	to     *spot
	bundle Bundle
	edge   Edge
	source int
	lane   *lane // that of the channel with the edge; nil for SameVersion
	rank   int   // position of bundle in the channel, from the head
	place  int   // v1: position of bundle among all bundles, from the best
}

// A ranged is a link that upgrades every version in a range.
type ranged struct {
	link
	rng *constraints.Range
}

// A lane is a set of channels that an operator may follow together. They are channels of
// one package, in one or more catalogs.
type lane struct {
	id               int
	catalog, channel string // "" if there are several
	channels         map[Channel]bool
	only             Channel // the channel, if there is only one
	whole            bool    // has all channels
	isDefault        bool    // is the default channel
	next             []*link // the results of Outlooks.next, by the id of the spot
	known            []bool  // whether next has the result, by the id of the spot
}

// index collects the lanes and links of all sources.
func (o *Outlooks) index() {
	if o.reading == V1 {
		o.rankBundles()
	}
	for i, s := range o.sources {
		for _, ch := range s.Package.preferred(nil) {
			l := o.laneOf(lane{catalog: s.Catalog, channel: ch.Name(), channels: map[Channel]bool{ch: true}, only: ch, isDefault: ch.IsDefault()})
			for _, e := range o.offered(ch) {
				b, _ := e.Bundle()
				if !o.usable(b) {
					continue
				}
				x := link{to: o.spot(b.Node()), bundle: b, source: i, lane: l, place: o.places[b]}
				x.rank, _ = e.Rank()
				name := func(name string, edge Edge) {
					if name != "" {
						x.edge = edge
						o.named[name] = append(o.named[name], x)
					}
				}
				name(e.Replaces(), Replaces)
				for s := range e.Skips() {
					name(s, Skips)
				}
				if r := e.skipRange(); r != nil {
					x.edge = SkipRange
					o.ranged = append(o.ranged, ranged{x, r})
				}
			}
		}
		if o.reading == V1 {
			all := map[Channel]bool{}
			for ch := range s.Package.Channels() {
				all[ch] = true
			}
			o.laneOf(lane{catalog: s.Catalog, channels: all, whole: true})
		}
	}
}

// rankBundles orders all bundles as v1 prefers them, and groups them by version.
func (o *Outlooks) rankBundles() {
	o.places, o.versions = map[Bundle]int{}, map[string][]link{}
	var list []link
	for i, s := range o.sources {
		for b := range s.Package.Bundles() {
			if o.usable(b) {
				list = append(list, link{to: o.spot(b.Node()), bundle: b, edge: SameVersion, source: i})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b link) int {
		_, x := a.bundle.Deprecation()
		_, y := b.bundle.Deprecation()
		switch {
		case x != y && x:
			return 1
		case x != y:
			return -1
		}
		v, _ := a.bundle.VersionRelease()
		w, _ := b.bundle.VersionRelease()
		return cmp.Or(cmp.Compare(a.source, b.source), w.Compare(v), cmp.Compare(a.bundle.Name(), b.bundle.Name()))
	})
	for i := range list {
		x := &list[i]
		x.place = i
		o.places[x.bundle] = i
		key := releaseKey(x.bundle.Version())
		o.versions[key] = append(o.versions[key], *x)
	}
	o.ranking = list
}

// offered returns the entries of a channel that may be chosen. In classic they are in order
// from the head.
func (o *Outlooks) offered(ch Channel) []Entry {
	if o.reading == Classic {
		return slices.Collect(ch.Order())
	}
	return slices.DeleteFunc(slices.Collect(ch.Entries()), func(e Entry) bool { _, ok := e.Bundle(); return !ok })
}

// usable reports whether a bundle can be chosen at all.
func (o *Outlooks) usable(b Bundle) bool {
	if o.without != nil && o.without(b) {
		return false
	}
	if o.reading == V1 {
		return b.HasVersion()
	}
	return b.Err() == nil && !b.IsProhibited()
}

// laneOf returns the lane with the catalog, the channel and the channels of l. It adds l if
// there is none yet.
func (o *Outlooks) laneOf(l lane) *lane {
	for _, known := range o.lanes {
		if known.catalog == l.catalog && known.channel == l.channel && len(known.channels) == len(l.channels) {
			same := true
			for ch := range l.channels {
				same = same && known.channels[ch]
			}
			if same {
				return known
			}
		}
	}
	l.id = len(o.lanes)
	o.lanes = append(o.lanes, &l)
	return &l
}

// spot returns the spot of a node.
func (o *Outlooks) spot(n Node) *spot {
	if s := o.spots[n]; s != nil {
		return s
	}
	s := &spot{Node: n, id: len(o.spots)}
	if v, err := version.Parse(n.Version); err == nil {
		s.version = &v
	}
	o.spots[n] = s
	return s
}

// links returns the links to all bundles that can follow an installed one, in any channel. A
// bundle may follow itself (H2).
func (o *Outlooks) links(at *spot) []link {
	if at.linked {
		return at.links
	}
	at.linked = true
	at.links = append(at.links, o.named[at.Name]...)
	if at.version == nil {
		return at.links
	}
	for _, x := range o.ranged {
		if x.rng.Contains(*at.version) {
			at.links = append(at.links, x.link)
		}
	}
	if o.reading == V1 {
		at.links = append(at.links, o.versions[releaseKey(*at.version)]...)
	}
	return at.links
}

// has reports whether an operator that follows the lane can be upgraded by the link.
func (l *lane) has(x *link) bool {
	if x.lane == nil {
		return l.hasBundle(x.bundle)
	}
	return x.lane == l || l.channels[x.lane.only]
}

// hasBundle reports whether a bundle is in one of the channels of the lane.
func (l *lane) hasBundle(b Bundle) bool {
	for e := range b.Entries() {
		if l.channels[e.Channel()] {
			return true
		}
	}
	return false
}

// next returns the link by which OLM upgrades an operator at a spot that follows the lane
// l, if nothing blocks it. It returns nil if the operator stays.
func (o *Outlooks) next(l *lane, at *spot) *link {
	if at.id < len(l.known) && l.known[at.id] {
		return l.next[at.id]
	}
	var best *link
	links := o.links(at)
	for i := range links {
		if x := &links[i]; l.has(x) && (best == nil || o.compare(l, x, best) < 0) {
			best = x
		}
	}
	if best != nil && best.to.Name == at.Name {
		best = nil // the installed bundle is preferred
	}
	if n := at.id + 1 - len(l.known); n > 0 {
		l.known, l.next = append(l.known, make([]bool, n)...), append(l.next, make([]*link, n)...)
	}
	l.known[at.id], l.next[at.id] = true, best
	return best
}

// compare orders the links from a bundle in a lane by preference. Classic prefers the
// default channels, then the others by name; in a channel, the heads of all catalogs, then
// entries nearer to the head (B4, H15). v1 prefers the best bundle (C5, C6).
func (o *Outlooks) compare(l *lane, a, b *link) int {
	if o.reading == V1 {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.edge, b.edge))
	}
	channel := 0
	if l.whole && a.lane.isDefault != b.lane.isDefault {
		channel = 1
		if a.lane.isDefault {
			channel = -1
		}
	} else if l.whole && !a.lane.isDefault {
		channel = strings.Compare(a.lane.channel, b.lane.channel)
	}
	return cmp.Or(channel, cmp.Compare(a.notHead(), b.notHead()), cmp.Compare(a.source, b.source), cmp.Compare(a.rank, b.rank), cmp.Compare(a.edge, b.edge))
}

// notHead is 0 for the head of a channel, else 1.
func (x *link) notHead() int {
	if h, ok := x.lane.only.Head(); ok && h.Name() == x.bundle.Name() {
		return 0
	}
	return 1
}

// step returns the upgrade of a spot by the link.
func (x *link) step(from *spot) Step {
	r := Reason{Edge: x.edge}
	if x.lane != nil {
		r.Channel = x.lane.channel
	}
	return Step{from.Node, x.to.Node, []Reason{r}}
}

// headsOf returns the heads of a lane. In classic OLM, these are the newest usable bundle
// of each of its channels, default channels first. In OLM v1, it is the single best bundle.
func (o *Outlooks) headsOf(l *lane) []Target {
	var out []Target
	if o.reading == V1 {
		for i := range o.ranking {
			if x := &o.ranking[i]; l.hasBundle(x.bundle) {
				return []Target{{Node: x.to.Node, Catalog: o.sources[x.source].Catalog}}
			}
		}
		return nil
	}
	for _, s := range o.sources {
		for _, ch := range s.Package.preferred(nil) {
			if !l.channels[ch] {
				continue
			}
			for e := range ch.Order() {
				if b, _ := e.Bundle(); o.usable(b) {
					out = append(out, Target{b.Node(), s.Catalog, ch.Name(), ch.IsDefault()})
					break
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Target) int {
		switch {
		case a.Default == b.Default:
			return 0
		case a.Default:
			return -1
		}
		return 1
	})
	return out
}

// lower returns the best upgrade in a lane from a bundle that OLM v1 prefers to it, of those that outranks accepts, or nil.
func (o *Outlooks) lower(own *lane, at *spot, outranks func(at, to *spot) bool) *Step {
	if o.reading != V1 {
		return nil
	}
	var best *link
	links := o.links(at)
	for i := range links {
		if x := &links[i]; own.has(x) && x.edge != NoEdge && outranks(at, x.to) && (best == nil || o.compare(own, x, best) < 0) {
			best = x
		}
	}
	if best == nil {
		return nil
	}
	step := best.step(at)
	return &step
}

// highest returns the newest bundle of the start and the steps of an outlook.
func (o *Outlooks) highest(out *Outlook) *spot {
	at := o.spot(out.From)
	for _, x := range out.Steps {
		if to := o.spot(x.To); !newer(at, to) {
			at = to
		}
	}
	return at
}

// downgrades completes an outlook with the first step to an older version that is not a newer build.
func (o *Outlooks) downgrades(out *Outlook) { // H2
	i := slices.IndexFunc(out.Steps, func(x Step) bool { return newer(o.spot(x.From), o.spot(x.To)) && !x.Rebuilds() })
	switch {
	case i >= 0:
		out.Downgrade = &out.Steps[i]
		out.Keep = o.keeper(o.spot(out.Steps[i].From))
	case out.Kind == OutlookAhead && len(out.Steps) == 0:
		out.Keep = o.keeper(o.spot(out.From))
	}
}

// keeper returns a channel in which the bundle at a spot is the head and stays, or nil.
func (o *Outlooks) keeper(at *spot) *Target {
	for i := range o.heads {
		h := &o.heads[i]
		for _, l := range o.lanes {
			if h.Name == at.Name && l.channel != "" && l.catalog == h.Catalog && l.channel == h.Channel && o.next(l, at) == nil {
				return h
			}
		}
	}
	return nil
}
