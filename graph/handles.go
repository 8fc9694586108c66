package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/property"
)

// A Package is a package of a catalog. It is comparable. The zero value refers to no
// package.
type Package struct {
	c *Catalog
	i uint32
}

func (p Package) rec() *packageRec { return &p.c.packages[p.i] }

// Name returns the name of the package.
func (p Package) Name() string { return p.c.str(p.rec().name) }

// Catalog returns the catalog that the package belongs to.
func (p Package) Catalog() *Catalog { return cmp.Or(p.c.whole, p.c) }

// Pos returns the position of the package.
func (p Package) Pos() fbc.Pos { return p.c.at(p.rec().pos) }

// Channels returns the channels, sorted by name.
func (p Package) Channels() iter.Seq[Channel] {
	return func(yield func(Channel) bool) {
		for i := p.rec().channels.from; i < p.rec().channels.to; i++ {
			if !yield(Channel{p.c, i}) {
				return
			}
		}
	}
}

// Channel returns the channel with the name.
func (p Package) Channel(name string) (Channel, bool) {
	i, ok := find(&p.c.records, p.c.channels, p.rec().channels, name, func(r *channelRec) *sid { return &r.name })
	return Channel{p.c, i}, ok
}

// DefaultChannel returns the default channel, and false if the package has none or it
// does not exist.
func (p Package) DefaultChannel() (Channel, bool) {
	return p.Channel(p.c.str(p.rec().defaultChannel))
}

// DefaultChannelName returns the name of the default channel in the olm.package blob.
func (p Package) DefaultChannelName() string { return p.c.str(p.rec().defaultChannel) }

// Bundles returns the bundles, sorted by name.
func (p Package) Bundles() iter.Seq[Bundle] {
	return func(yield func(Bundle) bool) {
		for i := p.rec().bundles.from; i < p.rec().bundles.to; i++ {
			if !yield(Bundle{p.c, i}) {
				return
			}
		}
	}
}

// Bundle returns the bundle with the name.
func (p Package) Bundle(name string) (Bundle, bool) {
	i, ok := find(&p.c.records, p.c.bundles, p.rec().bundles, name, func(r *bundleRec) *sid { return &r.name })
	return Bundle{p.c, i}, ok
}

// NumBundles returns the number of bundles in the package.
func (p Package) NumBundles() int { return p.rec().bundles.len() }

// Deprecation returns the author's message, and false if the package is not deprecated.
func (p Package) Deprecation() (string, bool) { return p.c.deprecation(p.rec().deprecated) }

// A Channel is a channel of a package. It is comparable. The zero value refers to no
// channel.
type Channel struct {
	c *Catalog
	i uint32
}

func (ch Channel) rec() *channelRec { return &ch.c.channels[ch.i] }

// Name returns the name of the channel.
func (ch Channel) Name() string { return ch.c.str(ch.rec().name) }

// Pos returns the position of the channel.
func (ch Channel) Pos() fbc.Pos { return ch.c.at(ch.rec().pos) }

// Package returns the package that the channel belongs to.
func (ch Channel) Package() Package { return Package{ch.c, ch.rec().pkg} }

// IsDefault reports whether the channel is the default channel of its package.
func (ch Channel) IsDefault() bool { return ch.rec().name == ch.Package().rec().defaultChannel }

// Err returns the reason why the channel cannot be used: it has no head, several heads
// or a cycle. The error is an [*fbc.Diagnostic], or nil.
func (ch Channel) Err() error { return ch.c.fault(ch.rec().fault) }

// Head returns the entry that no other entry replaces or skips, and false if there is
// not exactly one.
func (ch Channel) Head() (Entry, bool) {
	h := ch.rec().head
	if h == 0 {
		return Entry{}, false
	}
	return Entry{ch.c, h - 1}, true
}

// Order returns the entries that can be installed, in classic order: the chain of
// replaces from the head, without skipped entries and without names that have no
// bundle. For a channel that cannot be used it returns none.
func (ch Channel) Order() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, e := range in(ch.c.order, ch.rec().order) {
			if !yield(Entry{ch.c, e}) {
				return
			}
		}
	}
}

// Entries returns all entries, sorted by name.
func (ch Channel) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := ch.rec().entries.from; i < ch.rec().entries.to; i++ {
			if !yield(Entry{ch.c, i}) {
				return
			}
		}
	}
}

// NumEntries returns the number of entries in the channel.
func (ch Channel) NumEntries() int { return ch.rec().entries.len() }

// Entry returns the entry with the name.
func (ch Channel) Entry(name string) (Entry, bool) {
	i, ok := find(&ch.c.records, ch.c.entries, ch.rec().entries, name, func(r *entryRec) *sid { return &r.name })
	return Entry{ch.c, i}, ok
}

// Deprecation returns the author's message, and false if the channel is not deprecated.
func (ch Channel) Deprecation() (string, bool) { return ch.c.deprecation(ch.rec().deprecated) }

// An Entry is a bundle's place in a channel. Resolutions choose entries. It is comparable.
// The zero value refers to no entry.
type Entry struct {
	c *Catalog
	i uint32
}

func (e Entry) rec() *entryRec { return &e.c.entries[e.i] }

// Index returns the number of the entry in its catalog, from 0 to
// Size.Entries-1, for use as an index of a slice.
func (e Entry) Index() int { return e.c.before.Entries + int(e.i) }

// EntryAt returns the entry with the given [Entry.Index].
func (c *Catalog) EntryAt(i int) Entry {
	if c.parts != nil {
		return c.parts.entryAt(i)
	}
	return Entry{c, uint32(i)}
}

// Name returns the name of the bundle in the entry.
func (e Entry) Name() string { return e.c.str(e.rec().name) }

// Channel returns the channel that the entry belongs to.
func (e Entry) Channel() Channel { return Channel{e.c, e.rec().channel} }

// Bundle returns the bundle of the entry, and false for a name without a bundle.
func (e Entry) Bundle() (Bundle, bool) {
	b := e.rec().bundle
	if b == 0 {
		return Bundle{}, false
	}
	return Bundle{e.c, b - 1}, true
}

// Replaces returns the name of the bundle that the entry replaces, or "".
func (e Entry) Replaces() string { return e.c.str(e.rec().replaces) }

// Skips returns the names that the entry skips, in file order.
func (e Entry) Skips() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range in(e.c.skips, e.rec().skips) {
			if !yield(e.c.str(s)) {
				return
			}
		}
	}
}

// SkipRange returns the text of the skipRange, or "".
func (e Entry) SkipRange() string {
	if r := e.rec().skipRange; r > 0 {
		return e.c.str(e.c.ranges[r-1])
	}
	return ""
}

// Rank returns the position of the entry in the classic order of its channel, from 0 at
// the head, and false if it is not in the order.
func (e Entry) Rank() (int, bool) {
	r := e.rec().rank
	return int(r) - 1, r > 0
}

// A Bundle is the content of a version of a package. It is comparable. The zero value
// refers to no bundle. It implements [constraints.Bundle].
type Bundle struct {
	c *Catalog
	i uint32
}

func (b Bundle) rec() *bundleRec { return &b.c.bundles[b.i] }

// Name returns the name of the bundle.
func (b Bundle) Name() string { return b.c.str(b.rec().name) }

// Pos returns the position of the bundle.
func (b Bundle) Pos() fbc.Pos { return b.c.at(b.rec().pos) }

// Package returns the package that the bundle belongs to.
func (b Bundle) Package() Package { return Package{b.c, b.rec().pkg} }

// Image returns the reference of the bundle image, or "".
func (b Bundle) Image() string { return b.c.str(b.rec().image) }

// Version returns the version in the olm.package property, and 0.0.0 if it is missing
// or invalid; see Err.
func (b Bundle) Version() semver.Version { return b.c.version(&b.rec().version) }

// Err returns the reason why the bundle cannot be chosen: it has no valid version, or a
// requirement that cannot be read. The error is an [*fbc.Diagnostic], or nil.
func (b Bundle) Err() error {
	if err := b.c.fault(b.rec().fault); err != nil {
		return err
	}
	// An index opened with tighter limits than it was written with may have
	// requirements that cannot be read.
	for _, r := range in(b.c.required, b.rec().required) {
		if _, err := b.c.expr(r.requirement); err != nil {
			return &fbc.Diagnostic{
				Code: codes.Constraint, Pos: b.Pos(), Schema: fbc.SchemaBundle, Package: b.Package().Name(), Name: b.Name(),
				Path: fmt.Sprintf("/properties/%d/value", r.property), Err: err,
			}
		}
	}
	return nil
}

// IsProhibited reports whether the bundle has the property olm.deprecated, which
// excludes it from resolution.
func (b Bundle) IsProhibited() bool { return b.rec().flags&flagDeprecated != 0 }

// RepeatedAPI returns the first API that the bundle lists twice, and false if there is
// none.
func (b Bundle) RepeatedAPI() (property.GVK, bool) {
	if b.rec().flags&flagTwice == 0 {
		return property.GVK{}, false
	}
	return property.RepeatedGVK(slices.Collect(b.Properties()))
}

// Deprecation returns the author's message, and false if the bundle is not deprecated.
func (b Bundle) Deprecation() (string, bool) { return b.c.deprecation(b.rec().deprecated) }

// Entries returns the entries of the bundle, sorted by channel.
func (b Bundle) Entries() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for _, e := range in(b.c.bundleEntries, b.rec().entries) {
			if !yield(Entry{b.c, e}) {
				return
			}
		}
	}
}

// APIs returns the APIs that the bundle provides, sorted by group, version and kind.
func (b Bundle) APIs() iter.Seq[property.GVK] {
	return func(yield func(property.GVK) bool) {
		for _, g := range in(b.c.apis, b.rec().apis) {
			if !yield(b.c.gvk(g)) {
				return
			}
		}
	}
}

// A Requirement is a condition that a bundle imposes on the installed set.
type Requirement struct {
	// Property is the index in the bundle's properties.
	Property int
	// ID is the number of the requirement in the catalog. Bundles with the same
	// requirement have the same ID.
	ID   int
	Expr constraints.Expr
}

// Requirements returns the requirements of the bundle, in the order of its properties.
// A bundle with an unreadable requirement has an Err.
func (b Bundle) Requirements() iter.Seq[Requirement] {
	return func(yield func(Requirement) bool) {
		for _, r := range in(b.c.required, b.rec().required) {
			x, err := b.c.expr(r.requirement)
			if err == nil && !yield(Requirement{int(r.property), b.c.requirementID(r.requirement), x}) {
				return
			}
		}
	}
}

// NumRequirements returns the number of requirements of the bundle, including those that
// cannot be read.
func (b Bundle) NumRequirements() int { return b.rec().required.len() }

// Properties returns the properties in file order. The Value of a heavy property that
// was not kept is nil.
func (b Bundle) Properties() iter.Seq[property.Property] {
	return func(yield func(property.Property) bool) {
		for _, p := range in(b.c.props, b.rec().props) {
			var v json.RawMessage
			if p.value > 0 {
				v = json.RawMessage(b.c.str(sid(p.value - 1)))
			}
			if !yield(property.Property{Type: b.c.str(p.typ), Value: v}) {
				return
			}
		}
	}
}

// HasProperties reports whether the properties of the bundle that are not heavy are exactly those of a list, in the
// same order and with the same text.
func (b Bundle) HasProperties(list []property.Property) bool {
	for _, p := range in(b.c.props, b.rec().props) {
		typ := b.c.str(p.typ)
		if property.IsHeavy(typ) {
			continue
		}
		if len(list) == 0 || typ != list[0].Type || (p.value == 0) != (list[0].Value == nil) {
			return false
		}
		if p.value > 0 && b.c.str(sid(p.value-1)) != string(list[0].Value) {
			return false
		}
		list = list[1:]
	}
	return len(list) == 0
}

// Provides reports whether the bundle provides an API.
func (b Bundle) Provides(api property.GVK) bool {
	for g := range b.APIs() {
		if g == api {
			return true
		}
	}
	return false
}

// InPackage reports whether the bundle belongs to the package with the name.
func (b Bundle) InPackage(name string) bool { return b.Package().Name() == name }

// VersionIn reports whether the version of the bundle is in a range.
func (b Bundle) VersionIn(r constraints.Range) bool { return r.Contains(b.Version()) }

// HasLabel reports whether the bundle has the property olm.label with the label.
func (b Bundle) HasLabel(label string) bool {
	for _, l := range in(b.c.bundleLabels, b.rec().labels) {
		if b.c.str(l) == label {
			return true
		}
	}
	return false
}

// Compare orders bundles by package and name, within one catalog.
func (b Bundle) Compare(o Bundle) int {
	return cmp.Compare(b.c.before.Bundles+int(b.i), o.c.before.Bundles+int(o.i))
}

// Compare orders channels by package and name, within one catalog.
func (ch Channel) Compare(o Channel) int {
	return cmp.Compare(ch.c.before.Channels+int(ch.i), o.c.before.Channels+int(o.i))
}
