package fbc

import (
	"encoding/json"
	"hash/maphash"
	"io"

	"github.com/olmkit/olmkit/property"
)

// The schemas that OLM defines.
const (
	SchemaPackage      = "olm.package"
	SchemaChannel      = "olm.channel"
	SchemaBundle       = "olm.bundle"
	SchemaDeprecations = "olm.deprecations"
)

// A Meta is what all blobs have in common: the fields of a blob of any schema, and its
// position.
type Meta struct {
	Schema string
	// Package is the name of the package that the blob belongs to. For an olm.package blob
	// it equals Name.
	Package string
	Name    string
	Pos     Pos
	// Properties are in the order of the file, so an index identifies a property. The Value
	// of a heavy property that was not kept is nil.
	Properties []property.Property
	// Raw is the whole blob as JSON. Only KeepAll keeps it; see Catalog.Raw.
	Raw json.RawMessage

	from Text
}

// Text returns the location of the blob's text.
func (m *Meta) Text() Text { return m.from }

// A Text locates the text of a blob in its source, and has a checksum, so the whole blob
// can be read again. It is zero for a blob that was not loaded, or whose source cannot be
// read twice.
type Text struct {
	source         *source // nil if it cannot be read again
	offset, length int64
	sum            uint64
}

// A source is where blobs were loaded from.
type source struct {
	open   func(name string) (io.ReadCloser, error)
	limits *Limits
	seed   maphash.Seed
	tree   bool // several files, some of which may not belong to a catalog
}

// A Package is an olm.package blob. Its icon and description stay in the source.
type Package struct {
	Meta
	DefaultChannel string
}

// A Channel is an olm.channel blob.
type Channel struct {
	Meta
	Entries []Entry
}

// An Entry is a bundle's place in a channel, with the edges that lead to it.
type Entry struct {
	Name      string
	Replaces  string
	Skips     []string
	SkipRange string
}

// A Bundle is an olm.bundle blob.
type Bundle struct {
	Meta
	Image string
	// RelatedImages is set only by KeepAll.
	RelatedImages []RelatedImage
}

// A RelatedImage is an image that an operator uses.
type RelatedImage struct{ Name, Image string }

// Deprecations is an olm.deprecations blob.
type Deprecations struct {
	Meta
	Entries []Deprecation
}

// A Deprecation is the author's message about a package, channel or bundle.
type Deprecation struct {
	// Schema and Name refer to the deprecated package, channel or bundle. Name is
	// empty for a package.
	Schema, Name string
	Message      string
}

// An Other is a blob of a schema that this package does not know. It is kept, and is
// not an error.
type Other struct{ Meta }

// A Blob is a *Package, *Channel, *Bundle, *Deprecations or *Other.
type Blob interface {
	// Common returns the fields that every blob has.
	Common() *Meta
}

// Common returns the fields that every blob has.
func (m *Meta) Common() *Meta { return m }
