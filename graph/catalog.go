package graph

import (
	"context"
	"io/fs"
	"iter"
	"sort"
	"strings"
	"sync"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/property"
)

// A Catalog is the index of one catalog. It is immutable and safe for concurrent use.
type Catalog struct {
	records

	problems fbc.Diagnostics
	others   []other // by package and schema
	meaning  meaning

	digestOnce sync.Once
	digest     string

	// For reading the source again: the blobs, or the place of the text of each bundle and
	// package. An opened index has neither.
	blobs        *fbc.Catalog
	texts        []fbc.Text
	packageTexts []fbc.Text
	reload       func(context.Context) (*fbc.Catalog, error) // nil if that is impossible

	// For an opened index: its packages, the hash of its source, and the source. Each of the
	// packages is a catalog, of which its handles are, and has the index as its whole.
	parts  parts
	whole  *Catalog
	before Size // of the parts before this one
	source string
	files  fs.FS
	load   *fbc.LoadOptions
}

// parts are the packages of an opened index, each a catalog of one package. They are safe for
// concurrent use.
type parts interface {
	size() Size
	memory() int64 // of what has been read, in bytes
	// err returns the first error that reading a package had. The package then does not exist
	// for the methods below.
	err() error

	all() iter.Seq[*Catalog]
	names() iter.Seq[string]
	named(name string) (Package, bool)
	// each returns the bundles that of returns for each of the listed packages.
	each(list []uint32, of func(*Catalog) iter.Seq[Bundle]) iter.Seq[Bundle]
	entryAt(index int) Entry
}

// records are the flat lists of a catalog.
type records struct {
	table

	packages []packageRec // by name
	channels []channelRec // by package, then name
	entries  []entryRec   // by channel, then name
	bundles  []bundleRec  // by package, then name

	order         []uint32 // entries of each channel in classic order
	skips         []sid    // of each entry, in file order
	props         []propRec
	apis          []uint32 // numbers of gvks, of each bundle, sorted
	bundleLabels  []sid    // of each bundle
	required      []requiredRec
	bundleEntries []uint32 // entries of each bundle, by channel

	gvks      []gvkRec // sorted
	providers []uint32 // bundles of each gvk, ascending
	labels    []labelRec
	labeled   []uint32 // bundles of each label, ascending

	requirements []requirementRec
	ids          []uint32 // the Requirement.ID of each requirement; nil if that is its number
	ranges       []sid    // the distinct skipRanges
	deprecations []deprecationRec
}

type pos struct {
	file sid
	line uint32
}

type packageRec struct {
	name, defaultChannel sid
	channels, bundles    span
	deprecated           uint32 // 1 + number of the deprecation, 0 for none
	pos                  pos
}

type channelRec struct {
	pkg            uint32
	name           sid
	entries, order span
	head           uint32 // 1 + number of the entry, 0 when the channel has no single head
	fault          uint32 // 1 + number of the problem that makes it unusable
	deprecated     uint32
	pos            pos
}

type entryRec struct {
	channel   uint32
	bundle    uint32 // 1 + number of the bundle, 0 for a name without content
	name      sid
	replaces  sid
	skips     span
	skipRange uint32 // 1 + number of the range, 0 for none
	rank      uint32 // 1 + position in the channel's order, 0 when not in it
}

type bundleRec struct {
	version     versionRec
	pkg         uint32
	name, image sid
	props       span
	apis        span
	labels      span
	required    span
	entries     span
	fault       uint32 // 1 + number of the problem that makes it unusable
	deprecated  uint32
	flags       uint32
	modes       uint32 // the stated install modes: modesNone and so on
	pos         pos
}

const (
	flagDeprecated = 1 << iota // has the property olm.deprecated (D12)
	flagVersion                // has a valid version
	flagTwice                  // lists an API twice (H26)
)

type propRec struct {
	typ   sid
	value uint32 // 1 + sid of the JSON; 0 when the value was not kept
}

type requiredRec struct {
	requirement uint32
	property    uint32 // index in the bundle's properties
}

type gvkRec struct {
	group, version, kind sid
	providers            span
}

type labelRec struct {
	label   sid
	bundles span
}

type deprecationRec struct{ message sid }

// An other is a blob of a schema that OLM does not define.
type other struct {
	Schema  string `json:"schema"`
	Package string `json:"package"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	text    fbc.Text
}

func (o *other) meta() *fbc.Meta {
	return &fbc.Meta{Schema: o.Schema, Package: o.Package, Pos: fbc.Pos{File: o.File, Line: o.Line}}
}

// A Size is the number of packages, channels, entries and bundles in a catalog.
type Size struct{ Packages, Channels, Entries, Bundles int }

// Err returns the error of the first package that could not be read from an index opened
// with [Options.OnDemand], or nil. The error is an [*IndexError]. Without it, Err is always
// nil.
//
// Methods behave as if such a package did not exist, and sequences end before it. Therefore,
// use results that depend on the catalog only if Err returns nil afterwards, as
// [resolver.Resolve] does.
//
// [resolver.Resolve]: https://pkg.go.dev/github.com/olmkit/olmkit/resolver#Resolve
func (c *Catalog) Err() error {
	if c.parts == nil {
		return nil
	}
	return c.parts.err()
}

// Size returns the size of the catalog.
func (c *Catalog) Size() Size {
	if c.parts != nil {
		return c.parts.size()
	}
	return Size{len(c.packages), len(c.channels), len(c.entries), len(c.bundles)}
}

// Findings returns the faults that building the index found, in order of position. The
// caller must not modify the slice.
func (c *Catalog) Findings() fbc.Diagnostics { return c.problems }

// Packages returns the packages, sorted by name.
func (c *Catalog) Packages() iter.Seq[Package] {
	return func(yield func(Package) bool) {
		if c.parts != nil {
			for part := range c.parts.all() {
				if !yield(Package{part, 0}) {
					return
				}
			}
			return
		}
		for i := range c.packages {
			if !yield(Package{c, uint32(i)}) {
				return
			}
		}
	}
}

// PackageNames returns the names of the packages, sorted. An index that was opened on demand
// need not read the packages for it.
func (c *Catalog) PackageNames() iter.Seq[string] {
	if c.parts != nil {
		return c.parts.names()
	}
	return func(yield func(string) bool) {
		for i := range c.packages {
			if !yield(c.str(c.packages[i].name)) {
				return
			}
		}
	}
}

// Package returns the package with the name.
func (c *Catalog) Package(name string) (Package, bool) {
	if c.parts != nil {
		return c.parts.named(name)
	}
	i, ok := sort.Find(len(c.packages), func(i int) int {
		return strings.Compare(name, c.str(c.packages[i].name))
	})
	if !ok {
		return Package{}, false
	}
	return Package{c, uint32(i)}, true
}

// Bundles returns all bundles, sorted by package and name.
func (c *Catalog) Bundles() iter.Seq[Bundle] {
	return func(yield func(Bundle) bool) {
		if c.parts != nil {
			for part := range c.parts.all() {
				for i := range part.bundles {
					if !yield(Bundle{part, uint32(i)}) {
						return
					}
				}
			}
			return
		}
		for i := range c.bundles {
			if !yield(Bundle{c, uint32(i)}) {
				return
			}
		}
	}
}

// Providers returns the bundles that provide an API (olm.gvk), sorted by package and
// name. It is a lookup, not a scan.
func (c *Catalog) Providers(api property.GVK) iter.Seq[Bundle] {
	i, ok := sort.Find(len(c.gvks), func(i int) int { return api.Compare(c.gvk(uint32(i))) })
	if !ok {
		return c.seq(nil)
	}
	if list := in(c.providers, c.gvks[i].providers); c.parts == nil {
		return c.seq(list)
	} else {
		return c.parts.each(list, func(part *Catalog) iter.Seq[Bundle] { return part.Providers(api) })
	}
}

// Labeled returns the bundles that have the property olm.label with the label, sorted
// by package and name.
func (c *Catalog) Labeled(label string) iter.Seq[Bundle] {
	i, ok := sort.Find(len(c.labels), func(i int) int { return strings.Compare(label, c.str(c.labels[i].label)) })
	if !ok {
		return c.seq(nil)
	}
	if list := in(c.labeled, c.labels[i].bundles); c.parts == nil {
		return c.seq(list)
	} else {
		return c.parts.each(list, func(part *Catalog) iter.Seq[Bundle] { return part.Labeled(label) })
	}
}

// APIs returns every API that a bundle provides, sorted by group, version and kind.
func (c *Catalog) APIs() iter.Seq[property.GVK] {
	return func(yield func(property.GVK) bool) {
		for i := range c.gvks {
			if !yield(c.gvk(uint32(i))) {
				return
			}
		}
	}
}

func (c *Catalog) seq(list []uint32) iter.Seq[Bundle] {
	return func(yield func(Bundle) bool) {
		for _, b := range list {
			if !yield(Bundle{c, b}) {
				return
			}
		}
	}
}

func (r *records) gvk(i uint32) property.GVK {
	g := &r.gvks[i]
	return property.GVK{Group: r.str(g.group), Version: r.str(g.version), Kind: r.str(g.kind)}
}

func (r *records) at(p pos) fbc.Pos { return fbc.Pos{File: r.str(p.file), Line: int(p.line)} }

func (c *Catalog) fault(n uint32) error {
	if n == 0 {
		return nil
	}
	return c.problems[n-1]
}

func (c *Catalog) deprecation(n uint32) (string, bool) {
	if n == 0 {
		return "", false
	}
	return c.str(c.deprecations[n-1].message), true
}

// A requirementRec is a distinct value of a requirement property, shared by all
// bundles that state it.
type requirementRec struct{ typ, value sid }

// find returns the index of the item of list in the span s that has the given name, and
// false if there is none. The items of the span are sorted by name, which of returns.
func find[T any](c *records, list []T, s span, name string, of func(*T) *sid) (uint32, bool) {
	part := in(list, s)
	i, ok := sort.Find(len(part), func(i int) int { return strings.Compare(name, c.str(*of(&part[i]))) })
	return s.from + uint32(i), ok
}
