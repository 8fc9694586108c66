package graph

import (
	"cmp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/version"
)

// A Source is a package in a catalog that offers upgrades.
type Source struct {
	// Catalog is the name of the catalog in answers.
	Catalog string
	Package Package
}

// An OutlookKind states where the upgrades that OLM performs without intervention end.
type OutlookKind string

const (
	// OutlookAtHead: the operator is at the head of its channel or, in v1, at the newest
	// bundle of its channels.
	OutlookAtHead OutlookKind = "at-head"
	// OutlookStepsAway: OLM upgrades the operator to the head, in one or more steps.
	OutlookStepsAway OutlookKind = "steps-away"
	// OutlookStuck: the steps end before the head, because no entry accepts an upgrade from
	// there. There may be no steps at all.
	OutlookStuck OutlookKind = "stuck"
	// OutlookOutranked: the steps end before the head in v1, because the only upgrades from there lead to
	// lower versions, see Outlook.Lower.
	OutlookOutranked OutlookKind = "outranked"
	// OutlookDeprecated: the steps end before the head in v1, because the only upgrades from there lead to
	// deprecated bundles, see Outlook.Lower.
	OutlookDeprecated OutlookKind = "deprecated"
	// OutlookAhead: the operator is stuck, and newer than the head.
	OutlookAhead OutlookKind = "ahead"
	// OutlookLoops: the steps lead back to a bundle that was installed before.
	OutlookLoops OutlookKind = "loops"
	// OutlookNoChannel: no catalog has the operator's channel, or the channel cannot be
	// used.
	OutlookNoChannel OutlookKind = "no-channel"
)

// An Outlook states how far OLM upgrades an installed operator without intervention, and
// how an administrator can get it further. It depends only on catalogs, not on other
// operators and subscriptions.
type Outlook struct {
	Kind OutlookKind `json:"kind"`
	// Reading is the reading of the catalogs. JSON omits Classic.
	Reading Reading `json:"reading,omitzero"`
	From    Node    `json:"from"`
	// Fresh reports whether From is about to be installed, and Started whether because it is the
	// startingCSV. Of does not set them.
	Fresh   bool `json:"fresh,omitzero"`
	Started bool `json:"started,omitzero"`
	// Catalog is the only catalog that offers upgrades to the operator, and Channels are
	// the channels that it follows. Empty means all.
	Catalog  string   `json:"catalog,omitempty"`
	Channels []string `json:"channels,omitempty"`
	// Head is the head of the operator's channel, or nil if Kind is OutlookNoChannel. Of several
	// channels, it is that of the one where the steps end, or else of the preferred one.
	Head *Target `json:"head,omitzero"`
	// Steps are the upgrades that OLM performs without intervention.
	Steps []Step `json:"steps,omitzero"`
	// Downgrade is the first step to an older version that is not a newer build ([Step.Rebuilds]), or nil. Keep is then a channel in which the
	// bundle that the step replaces is the head and stays, or nil if there is none. If the operator
	// is newer than its channel, or stuck without a way, Keep is such a channel for it.
	Downgrade *Step   `json:"downgrade,omitzero"`
	Keep      *Target `json:"keep,omitzero"`
	// Gap is the next newer entry in the channel of a stuck operator, to which it cannot be
	// upgraded. It is nil if the channel has nothing newer.
	Gap *Gap `json:"gap,omitzero"`
	// Lower is an upgrade from the end of the steps that OLM v1 does not take, because the bundle has a
	// lower version or is deprecated. It is nil unless Kind is OutlookOutranked or OutlookDeprecated.
	Lower *Step `json:"lower,omitzero"`
	// Newest is the newest head of all channels and catalogs, or nil if it is not newer
	// than From and all steps. Prereleases count only in the default channel, or
	// if the steps end at one.
	Newest *Target `json:"newest,omitzero"`
	// Way is how to get further than the steps by changing the channel, or nil if that is
	// impossible or not needed.
	Way *Way `json:"way,omitzero"`
	// Nearer is a way that is at least as easy and ends at the head of the operator's channel or of the default
	// channel, but leads less far: no way leads on from there to the end of Way. It is nil if there is none.
	Nearer *Way `json:"nearer,omitzero"`
	// Closes is the first step after which no way leads to the end of Way, or nil if all steps
	// leave a way there.
	Closes *Step `json:"closes,omitzero"`
	// Several reports whether more than one catalog has the package and may offer it.
	Several bool `json:"-"`
}

// Returns reports whether a way leads through other channels to the head of the only channel that the operator follows,
// to which it can then return.
func (o *Outlook) Returns(w *Way) bool {
	return len(o.Channels) == 1 && o.Head != nil && w.End() == o.Head.Node && w.Legs[len(w.Legs)-1].Channel != o.Channels[0]
}

// End is the bundle at which the steps end.
func (o *Outlook) End() Node {
	if n := len(o.Steps); n > 0 {
		return o.Steps[n-1].To
	}
	return o.From
}

// EndsEarly reports whether the steps end before the head of the channel although the channel has
// something newer.
func (o *Outlook) EndsEarly() bool {
	return o.Kind == OutlookStuck || o.Kind == OutlookOutranked || o.Kind == OutlookDeprecated || o.Kind == OutlookLoops
}

// LeadsOn reports whether the step to an older version is on the way to one that is newer than before it.
func (o *Outlook) LeadsOn() bool {
	if o.Downgrade == nil {
		return false
	}
	from, err := version.Parse(o.Downgrade.From.Version)
	end, failed := version.Parse(o.End().Version)
	return err == nil && failed == nil && o.Kind != OutlookLoops && end.GT(from)
}

// A Target is the head of a channel.
type Target struct {
	Node
	Catalog string `json:"catalog,omitempty"`
	// Channel is empty in v1, where the newest bundle counts.
	Channel string `json:"channel,omitempty"`
	// Default reports whether the channel is the default channel.
	Default bool `json:"default,omitzero"`
}

// A Gap is the first entry of a channel that is newer than what is installed and does not
// accept an upgrade from it.
type Gap struct {
	Entry   Node   `json:"entry"`
	Catalog string `json:"catalog,omitempty"`
	Channel string `json:"channel"`
	// Over are the nodes that can be upgraded to the entry: bundles, sorted by version,
	// then names without a bundle.
	Over []Node `json:"over,omitzero"`
	// SkipRange is the skipRange of the entry, which may include other versions.
	SkipRange string `json:"skipRange,omitempty"`
	// Skipped is a newer entry that would accept the upgrade, but is never offered because the entry
	// By skips it. Both are nil if there is none, and in v1.
	Skipped *Node `json:"skipped,omitzero"`
	By      *Node `json:"by,omitzero"`
	// Replaced reports whether the operator itself replaces or skips the entry, which has the higher
	// version nevertheless.
	Replaced bool `json:"replaced,omitzero"`
}

// Outlooks finds how far OLM upgrades the operators of one package. It caches results, so
// repeated calls are cheap. It must not be used concurrently.
type Outlooks struct {
	reading Reading
	sources []Source
	without func(Bundle) bool
	// excluded are the upgrades that ways do not take, and avoid reports the bundles that they do not lead to.
	excluded map[[2]string]bool
	avoid    func(Bundle) bool
	lanes    []*lane // one for each channel of each source; in v1 also one for all channels of each source
	heads    []Target
	spots    map[Node]*spot
	// The links by name, under the name that they upgrade, and the links by range.
	named  map[string][]link
	ranged []ranged
	// Only in v1: all bundles, best first; the index of each in ranking; the bundles of
	// each version.
	ranking  []link
	places   map[Bundle]int
	versions map[string][]link
}

// NewOutlooks returns the Outlooks of a package whose sources are in order of preference.
// If without is not nil, bundles for which it returns true are never chosen.
func NewOutlooks(reading Reading, sources []Source, without func(Bundle) bool) *Outlooks {
	o := &Outlooks{reading: reading, sources: sources, without: without, spots: map[Node]*spot{}, named: map[string][]link{}}
	o.index()
	for _, l := range o.lanes {
		if reading == Classic || l.whole {
			o.heads = append(o.heads, o.headsOf(l)...)
		}
	}
	return o
}

// Exclude keeps upgrades out of the ways that an administrator can choose: [Outlook.Way] and the
// result of [Outlooks.Ways]. The steps that OLM takes on its own are the same. Call it before
// these methods.
func (o *Outlooks) Exclude(list []Exclusion) { // G4
	if o.excluded == nil {
		o.excluded = map[[2]string]bool{}
	}
	for _, x := range list {
		o.excluded[[2]string{x.From, x.To}] = true
	}
}

// Avoid keeps the ways that [Outlooks.Exclude] is about from leading to or through the bundles for which avoid returns
// true.
func (o *Outlooks) Avoid(avoid func(Bundle) bool) { o.avoid = avoid } // H40

// Of returns the outlook of an installed bundle, which need not be in a catalog. An empty
// catalog means all catalogs. In classic, channels has at most one name; without channels,
// OLM prefers the default channel, then the others by name.
func (o *Outlooks) Of(from Node, catalog string, channels []string) *Outlook { // H40
	out := &Outlook{Reading: o.reading, From: from, Catalog: catalog, Channels: channels, Steps: []Step{}, Several: catalog == "" && len(o.sources) > 1}
	own := o.own(catalog, channels)
	heads := o.headsOf(own)
	if len(heads) == 0 {
		out.Kind = OutlookNoChannel
	} else {
		out.Head = &heads[0]
		o.walk(out, own, heads)
	}
	end, highest := o.spot(out.End()), o.highest(out)
	for i := range o.heads {
		h := &o.heads[i]
		if prerelease(o.spot(h.Node)) && !h.Default && !prerelease(end) {
			continue
		}
		if h.Name != end.Name && h.Name != from.Name && newer(o.spot(h.Node), highest) && (out.Newest == nil || newer(o.spot(h.Node), o.spot(out.Newest.Node))) {
			out.Newest = h
		}
	}
	if out.Kind == OutlookStuck {
		out.Gap = o.gap(own, end)
		if out.Lower = o.lower(own, end, newer); out.Lower != nil {
			out.Kind = OutlookOutranked
		} else if out.Lower = o.lower(own, end, func(at, to *spot) bool { return newer(to, at) }); out.Lower != nil {
			out.Kind, out.Gap = OutlookDeprecated, nil
		}
	}
	o.downgrades(out)
	if out.EndsEarly() || out.Kind == OutlookNoChannel || out.Newest != nil {
		o.search(own, out)
	}
	if out.Kind == OutlookStuck && len(out.Steps) == 0 && out.Way == nil {
		out.Keep = o.keeper(o.spot(out.From))
	}
	return out
}

// own returns the lane of an operator that follows channels.
func (o *Outlooks) own(catalog string, channels []string) *lane {
	l := lane{catalog: catalog, channels: map[Channel]bool{}, whole: len(channels) == 0}
	if len(channels) == 1 {
		l.channel = channels[0]
	}
	if catalog == "" && len(o.sources) == 1 {
		l.catalog = o.sources[0].Catalog
	}
	for _, s := range o.sources {
		if catalog != "" && s.Catalog != catalog {
			continue
		}
		for ch := range s.Package.Channels() {
			if len(channels) == 0 || slices.Contains(channels, ch.Name()) {
				l.channels[ch] = true
			}
		}
	}
	return o.laneOf(l)
}

// walk follows the steps that OLM takes in a lane.
func (o *Outlooks) walk(out *Outlook, own *lane, heads []Target) {
	at := o.spot(out.From)
	seen := map[*spot]bool{at: true}
	for {
		x := o.next(own, at)
		if x == nil {
			break
		}
		out.Steps = append(out.Steps, x.step(at))
		at = x.to
		if seen[at] {
			out.Kind = OutlookLoops
			return
		}
		seen[at] = true
	}
	head := o.spot(heads[0].Node)
	i := slices.IndexFunc(heads, func(h Target) bool { return h.Name == at.Name })
	if i >= 0 {
		out.Head = &heads[i]
	}
	switch {
	case i < 0:
		out.Kind = OutlookStuck
		if newer(at, head) {
			out.Kind = OutlookAhead
		}
	case len(out.Steps) > 0:
		out.Kind = OutlookStepsAway
	default:
		out.Kind = OutlookAtHead
	}
}

// gap returns the oldest entry of a lane that is newer than the bundle at a spot, or nil if
// there is none or the version of the bundle is unknown.
func (o *Outlooks) gap(own *lane, at *spot) *Gap {
	if at.version == nil {
		return nil
	}
	var entries []Entry // of the bundle, which several channels may have
	var low semver.Version
	var g *Gap
	for _, s := range o.sources {
		for ch := range s.Package.Channels() {
			if !own.channels[ch] {
				continue
			}
			for _, e := range o.offered(ch) {
				b, _ := e.Bundle()
				v := b.Version()
				switch {
				case !o.usable(b) || v.Compare(*at.version) <= 0 || g != nil && v.Compare(low) > 0:
				case g == nil || v.Compare(low) < 0:
					entries, low = []Entry{e}, v
					g = &Gap{Entry: b.Node(), Catalog: s.Catalog, Channel: ch.Name(), SkipRange: e.SkipRange()}
				case b.Node() == g.Entry:
					entries = append(entries, e)
					g.SkipRange = cmp.Or(g.SkipRange, e.SkipRange())
				}
			}
		}
	}
	if g != nil {
		g.Over = o.over(entries)
		g.Skipped, g.By = o.skipped(own, at)
		g.Replaced = o.replaces(at, entries[0])
	}
	return g
}

// replaces reports whether the bundle at a spot replaces or skips an entry.
func (o *Outlooks) replaces(at *spot, e Entry) bool {
	for _, s := range o.sources {
		if b, ok := s.Package.Bundle(at.Name); ok {
			for x := range b.Entries() {
				if x.Replaces() == e.Name() || slices.Contains(slices.Collect(x.Skips()), e.Name()) {
					return true
				}
			}
		}
	}
	return false
}

// skipped returns the oldest entry of a lane that is newer than the bundle at a spot and accepts an
// upgrade from it, but is skipped, and the bundle that skips it (H3). They are nil if there is none.
func (o *Outlooks) skipped(own *lane, at *spot) (skipped, by *Node) {
	var low semver.Version
	for _, s := range o.sources {
		for ch := range s.Package.Channels() {
			if !own.channels[ch] || o.reading != Classic {
				continue
			}
			for e := range ch.Entries() {
				b, ok := e.Bundle()
				if _, offered := e.Rank(); offered || !ok || !o.usable(b) || !b.HasVersion() || e.Admits(at.Name, *at.version) == NoEdge {
					continue
				}
				if v := b.Version(); v.Compare(*at.version) <= 0 || skipped != nil && v.Compare(low) >= 0 {
					continue
				}
				for x := range ch.Entries() {
					if other, ok := x.Bundle(); ok && slices.Contains(slices.Collect(x.Skips()), e.Name()) {
						n, m := b.Node(), other.Node()
						skipped, by, low = &n, &m, b.Version()
					}
				}
			}
		}
	}
	return skipped, by
}

// over returns the nodes from which one of the entries of a bundle accepts an upgrade: bundles,
// sorted by version, then names without a bundle.
func (o *Outlooks) over(entries []Entry) []Node {
	var list []*spot
	known := map[string]bool{entries[0].Name(): true}
	add := func(n *spot) {
		known[n.Name] = true
		list = append(list, n)
	}
	for _, s := range o.sources {
		for b := range s.Package.Bundles() {
			admits := func(e Entry) bool { return e.Admits(b.Name(), b.Version()) != NoEdge }
			if !known[b.Name()] && b.HasVersion() && slices.ContainsFunc(entries, admits) {
				add(o.spot(b.Node()))
			}
		}
	}
	for _, e := range entries {
		for _, name := range append(slices.Collect(e.Skips()), e.Replaces()) {
			if name != "" && !known[name] {
				add(o.spot(Node{Name: name}))
			}
		}
	}
	slices.SortFunc(list, func(a, b *spot) int {
		switch {
		case (a.version == nil) != (b.version == nil):
			if a.version == nil {
				return 1
			}
			return -1
		case a.version == nil:
			return cmp.Compare(a.Name, b.Name)
		}
		return cmp.Or(a.version.Compare(*b.version), cmp.Compare(a.Name, b.Name))
	})
	nodes := make([]Node, len(list))
	for i, n := range list {
		nodes[i] = n.Node
	}
	return nodes
}

// prerelease reports whether the version of a bundle is known and a prerelease.
func prerelease(s *spot) bool { return s.version != nil && len(s.version.Pre) > 0 }

// newer reports whether both versions are known and a is higher.
func newer(a, b *spot) bool {
	return a.version != nil && b.version != nil && a.version.Compare(*b.version) > 0
}
