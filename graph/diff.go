package graph

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/property"
)

// A Diff lists what a new catalog changes for users of the old one. Its lists are in the
// order of packages, channels and nodes.
type Diff struct {
	Reading Reading `json:"reading"`
	// PackagesAdded and PackagesRemoved are names.
	PackagesAdded   []string      `json:"packagesAdded,omitempty"`
	PackagesRemoved []string      `json:"packagesRemoved,omitempty"`
	Packages        []PackageDiff `json:"packages,omitempty"`
	// APIsRemoved are the APIs that a bundle of the old catalog provides and no bundle of
	// the new one does.
	APIsRemoved []property.GVK `json:"apisRemoved,omitempty"`
	// Stranded is the number of stranded nodes in all packages of the new catalog.
	// Lost is the number of them that had a path before.
	Stranded int `json:"stranded"`
	Lost     int `json:"lost"`
}

// A PackageDiff lists the changes to a package. There is none for a package that is equal
// in both catalogs.
type PackageDiff struct {
	Name            string   `json:"name"`
	DefaultChannel  *Change  `json:"defaultChannel,omitzero"`
	ChannelsAdded   []string `json:"channelsAdded,omitempty"`
	ChannelsRemoved []string `json:"channelsRemoved,omitempty"`
	BundlesAdded    []Node   `json:"bundlesAdded,omitempty"`
	BundlesRemoved  []Node   `json:"bundlesRemoved,omitempty"`
	// BundlesChanged are the bundles with the same name but different content,
	// sorted by name.
	BundlesChanged []BundleChange `json:"bundlesChanged,omitempty"`
	// APIsRemoved are the APIs that bundles of the package provided and no longer
	// provide.
	APIsRemoved  []property.GVK      `json:"apisRemoved,omitempty"`
	Deprecations []DeprecationChange `json:"deprecations,omitempty"`
	Channels     []ChannelDiff       `json:"channels,omitempty"`
	// Precautions has an entry for each lost node of each channel, in order, unless the package was removed.
	Precautions []Precaution `json:"precautions,omitempty"`
}

// A Change is a value before and after.
type Change struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// A DeprecationChange is a deprecation that was added, removed (New is empty) or
// changed.
type DeprecationChange struct {
	Scope string `json:"scope"` // package, channel or bundle
	Name  string `json:"name,omitempty"`
	Change
}

// A ChannelDiff lists the changes for the nodes of a channel of the old catalog.
type ChannelDiff struct {
	Name string `json:"name"`
	// Head is set if the head changed. Old is empty if the channel had no head, and New if
	// it has none now.
	Head *Change `json:"head,omitzero"`
	// Gained are the nodes that now have a path to the head, Lost those that no
	// longer have one, and Changed those with a different next step on their path.
	Gained  []Node    `json:"gained,omitempty"`
	Lost    []Node    `json:"lost,omitempty"`
	Changed []Reroute `json:"changed,omitempty"`
	// Stranded are the nodes without a path to the new head, whether they had one
	// before or not, and all nodes of a removed channel. Users of a stranded node
	// cannot upgrade. Stranded nodes alone are not a change.
	Stranded []Node `json:"stranded,omitempty"`
	// Behind are the nodes that reached the newest patch release of their minor version,
	// or a newer version, in one step and no longer do.
	Behind []Node `json:"behind,omitempty"`
	// Ranges are the entries whose skipRange changed, sorted by name.
	Ranges []RangeChange `json:"ranges,omitempty"`
}

// A Reroute is a node whose next step changed. Old or New is empty if the node stays.
type Reroute struct {
	From Node `json:"from"`
	Old  Node `json:"old"`
	New  Node `json:"new"`
}

// IsEmpty reports whether nothing changed.
func (d *Diff) IsEmpty() bool {
	return len(d.PackagesAdded)+len(d.PackagesRemoved)+len(d.Packages)+len(d.APIsRemoved) == 0
}

// Compare returns what changes from an old catalog to a new one under a reading. The
// error is the context's or an [Upgrades.Err].
func Compare(ctx context.Context, old, new *Catalog, reading Reading) (*Diff, error) { // G9
	d := &Diff{Reading: reading}
	for p := range old.Packages() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		q, ok := new.Package(p.Name())
		if !ok {
			d.PackagesRemoved = append(d.PackagesRemoved, p.Name())
		}
		x, err := d.comparePackage(p, q, ok)
		if err != nil {
			return nil, err
		}
		if !x.isEmpty() {
			d.Packages = append(d.Packages, x)
		}
	}
	for p := range new.Packages() {
		if _, ok := old.Package(p.Name()); !ok {
			d.PackagesAdded = append(d.PackagesAdded, p.Name())
		}
	}
	for g := range old.APIs() {
		if !provided(new, g) {
			d.APIsRemoved = append(d.APIsRemoved, g)
		}
	}
	return d, nil
}

func provided(c *Catalog, g property.GVK) bool {
	for range c.Providers(g) {
		return true
	}
	return false
}

func (x *PackageDiff) isEmpty() bool {
	return x.DefaultChannel == nil && len(x.ChannelsAdded)+len(x.ChannelsRemoved)+len(x.BundlesAdded)+
		len(x.BundlesRemoved)+len(x.BundlesChanged)+len(x.APIsRemoved)+len(x.Deprecations)+len(x.Channels) == 0
}

// comparePackage compares a package. If ok is false, the package was removed and q is
// zero.
func (d *Diff) comparePackage(p, q Package, ok bool) (PackageDiff, error) {
	x := PackageDiff{Name: p.Name()}
	if ok {
		if a, b := p.DefaultChannelName(), q.DefaultChannelName(); a != b {
			x.DefaultChannel = &Change{a, b}
		}
		for ch := range q.Channels() {
			if _, had := p.Channel(ch.Name()); !had {
				x.ChannelsAdded = append(x.ChannelsAdded, ch.Name())
			}
		}
		for b := range q.Bundles() {
			if _, had := p.Bundle(b.Name()); !had {
				x.BundlesAdded = append(x.BundlesAdded, b.Node())
			}
		}
		x.Deprecations = compareDeprecations(p, q)
	}
	for b := range p.Bundles() {
		new, has := lookup(ok, func() (Bundle, bool) { return q.Bundle(b.Name()) })
		if !has {
			x.BundlesRemoved = append(x.BundlesRemoved, b.Node())
			continue
		}
		if c, differs := compareBundle(b, new); differs {
			x.BundlesChanged = append(x.BundlesChanged, c)
		}
	}
	byVersion(x.BundlesAdded)
	byVersion(x.BundlesRemoved)
	x.APIsRemoved = apisRemoved(p, q, ok)
	for ch := range p.Channels() {
		new, has := lookup(ok, func() (Channel, bool) { return q.Channel(ch.Name()) })
		if ok && !has {
			x.ChannelsRemoved = append(x.ChannelsRemoved, ch.Name())
		}
		c, err := compareChannel(ch, new, has, d.Reading)
		if err != nil {
			return x, err
		}
		d.Stranded += len(c.Stranded)
		d.Lost += len(c.Lost)
		if !c.isEmpty() {
			x.Channels = append(x.Channels, c)
		}
	}
	for _, c := range x.Channels {
		if ok {
			x.Precautions = append(x.Precautions, precautions(p, q, c.Name, c.Lost, d.Reading)...)
		}
	}
	return x, nil
}

// lookup calls ask and returns its result. If ok is false, it returns zero values instead.
func lookup[T any](ok bool, ask func() (T, bool)) (T, bool) {
	if !ok {
		var none T
		return none, false
	}
	return ask()
}

func byVersion(list []Node) {
	slices.SortFunc(list, func(a, b Node) int {
		v, err1 := parseRelease(a.Version)
		w, err2 := parseRelease(b.Version)
		if err1 != nil || err2 != nil {
			return cmp.Or(strings.Compare(a.Version, b.Version), strings.Compare(a.Name, b.Name))
		}
		return cmp.Or(v.Compare(w), strings.Compare(a.Name, b.Name))
	})
}

func apisRemoved(p, q Package, ok bool) []property.GVK {
	apis := func(p Package) []property.GVK {
		var out []property.GVK
		for b := range p.Bundles() {
			out = slices.AppendSeq(out, b.APIs())
		}
		slices.SortFunc(out, property.GVK.Compare)
		return slices.Compact(out)
	}
	var have []property.GVK
	if ok {
		have = apis(q)
	}
	return slices.DeleteFunc(apis(p), func(g property.GVK) bool {
		_, found := slices.BinarySearchFunc(have, g, property.GVK.Compare)
		return found
	})
}

func compareDeprecations(p, q Package) []DeprecationChange {
	var out []DeprecationChange
	add := func(scope, name, old, new string) {
		if old != new {
			out = append(out, DeprecationChange{scope, name, Change{old, new}})
		}
	}
	old, _ := p.Deprecation()
	new, _ := q.Deprecation()
	add("package", "", old, new)
	for ch := range p.Channels() {
		if other, ok := q.Channel(ch.Name()); ok {
			old, _ := ch.Deprecation()
			new, _ := other.Deprecation()
			add("channel", ch.Name(), old, new)
		}
	}
	for b := range p.Bundles() {
		if other, ok := q.Bundle(b.Name()); ok {
			old, _ := b.Deprecation()
			new, _ := other.Deprecation()
			add("bundle", b.Name(), old, new)
		}
	}
	return out
}

func (c *ChannelDiff) isEmpty() bool {
	return c.Head == nil && len(c.Gained)+len(c.Lost)+len(c.Changed)+len(c.Behind)+len(c.Ranges) == 0
}

// compareChannel compares the paths of all nodes of the old channel (B7). If ok is false,
// the channel was removed.
func compareChannel(old, new Channel, ok bool, reading Reading) (ChannelDiff, error) {
	c := ChannelDiff{Name: old.Name()}
	u := old.Package().Upgrades(reading, &UpgradeOptions{Channels: []string{old.Name()}})
	nodes := slices.Collect(u.Nodes())
	if u.Err() != nil {
		return c, u.Err()
	}
	if !ok {
		c.Stranded = nodes
		c.Lost = difference(nodes, slices.Collect(u.Stranded()))
		return c, nil
	}
	v := new.Package().Upgrades(reading, &UpgradeOptions{Channels: []string{new.Name()}, Installed: nodes})
	if v.Err() != nil {
		return c, v.Err()
	}
	if a, b := headName(u), headName(v); a != b {
		c.Head = &Change{a, b}
	}
	c.Ranges = compareRanges(old, new)
	before, after := set(slices.Collect(u.Stranded())), set(slices.Collect(v.Stranded()))
	heads := set(v.Heads())
	uOffers, vOffers := u.offered(), v.offered()
	for _, n := range nodes {
		m := n
		if i, ok := v.number(n); ok {
			m = v.nodes[i] // the new catalog may have a bundle, and so a version, for a name that had none
		}
		switch {
		case after[m]:
			c.Stranded = append(c.Stranded, n)
			if !before[n] {
				c.Lost = append(c.Lost, n)
			}
			continue
		case before[n]:
			c.Gained = append(c.Gained, n)
		default:
			s, _ := u.Next(n)
			t, _ := v.Next(m)
			if s.To != t.To && s.To != (Node{}) {
				c.Changed = append(c.Changed, Reroute{n, s.To, t.To})
			}
		}
		if _, moved := u.Next(n); moved && !behind(u, uOffers, n) && !heads[m] && behind(v, vOffers, m) {
			c.Behind = append(c.Behind, n)
		}
	}
	return c, nil
}

func headName(u *Upgrades) string {
	if h := u.Heads(); len(h) > 0 {
		return h[0].Name
	}
	return ""
}

func set(list []Node) map[Node]bool {
	out := make(map[Node]bool, len(list))
	for _, n := range list {
		out[n] = true
	}
	return out
}

func difference(list, without []Node) []Node {
	gone := set(without)
	return slices.DeleteFunc(slices.Clone(list), func(n Node) bool { return gone[n] })
}

// behind reports whether the next step of a node leads to a version below the newest
// available bundle of its minor version.
func behind(u *Upgrades, offered []bool, n Node) bool {
	i, ok := u.number(n)
	if !ok || u.of[i].version == nil {
		return false
	}
	s, ok := u.next(i)
	if !ok || u.of[s.to].version == nil {
		return false
	}
	v, to := u.of[i].version, u.of[s.to].version
	for j := range u.of {
		w := u.of[j].version
		if u.of[j].candidate && w != nil && w.Major == v.Major && w.Minor == v.Minor && w.GT(*to) && offered[j] {
			return true
		}
	}
	return false
}

// offered returns for each node whether it is a head or a step leads to it.
func (u *Upgrades) offered() []bool {
	out := make([]bool, len(u.of))
	for _, s := range u.steps {
		out[s.to] = true
	}
	for _, h := range u.heads {
		out[h] = true
	}
	return out
}
