package fbc

import (
	"encoding/json"
	"hash/maphash"
	"io"

	"github.com/olmkit/olmkit/property"
)

// The schemas with a meaning of their own (A5, A6, A8, A9).
const (
	SchemaPackage      = "olm.package"
	SchemaChannel      = "olm.channel"
	SchemaBundle       = "olm.bundle"
	SchemaDeprecations = "olm.deprecations"
)

// A Meta is what every blob has (A4): the fields of 002's _Meta, and the place
// it came from.
type Meta struct {
	Schema string
	// Package is the package the blob belongs to; for olm.package, its name.
	Package string
	Name    string
	Pos     Pos
	// Properties are the blob's properties in the order of the file, so that
	// an index is an address. A heavy value that was not kept is nil.
	Properties []property.Property
	// Raw is the whole blob as JSON, kept by KeepAll only; see Catalog.Raw.
	Raw json.RawMessage

	from Text
}

// Text returns where the whole text of the blob lies.
func (m *Meta) Text() Text { return m.from }

// A Text is the place of the whole text of a blob in what it was loaded from,
// with a checksum: all that has to stay of a blob to read it again. The zero Text
// is that of a blob that was not loaded, or from what cannot be read twice.
type Text struct {
	source         *source // nil: gone
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

// A Package is an olm.package blob (A5). Its icon and description stay in the
// source.
type Package struct {
	Meta
	DefaultChannel string
}

// A Channel is an olm.channel blob (A6).
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

// A Bundle is an olm.bundle blob (A8).
type Bundle struct {
	Meta
	Image string
	// RelatedImages is filled by KeepAll only.
	RelatedImages []RelatedImage
}

// A RelatedImage is an image that a bundle's workloads use.
type RelatedImage struct{ Name, Image string }

// Deprecations is an olm.deprecations blob (A9).
type Deprecations struct {
	Meta
	Entries []Deprecation
}

// A Deprecation is the author's message about a package, channel or bundle.
type Deprecation struct {
	// Schema is the schema of what is deprecated, Name its name, empty for a
	// package.
	Schema, Name string
	Message      string
}

// An Other is a blob of a schema that this package does not know. It is carried
// along and never an error (A4).
type Other struct{ Meta }

// A Blob is one of *Package, *Channel, *Bundle, *Deprecations and *Other.
type Blob interface {
	// Common returns the fields that every blob has.
	Common() *Meta
}

// Common returns the fields that every blob has.
func (m *Meta) Common() *Meta { return m }
