package fbc

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/regular"
)

// A Catalog holds the blobs of a load, each kind in the order of paths and, within a
// file, in file order. It does not change after the load, and goroutines may share it.
// Edits return a new catalog.
type Catalog struct {
	Packages     []*Package
	Channels     []*Channel
	Bundles      []*Bundle
	Deprecations []*Deprecations
	Others       []*Other

	// Findings are the findings that do not make a load fail, such as properties
	// without a type or value, in order of position. Validate repeats them.
	Findings Diagnostics
}

// Len returns the number of blobs.
func (c *Catalog) Len() int {
	return len(c.Packages) + len(c.Channels) + len(c.Bundles) + len(c.Deprecations) + len(c.Others)
}

func (c *Catalog) add(b Blob) {
	switch b := b.(type) {
	case *Package:
		c.Packages = append(c.Packages, b)
	case *Channel:
		c.Channels = append(c.Channels, b)
	case *Bundle:
		c.Bundles = append(c.Bundles, b)
	case *Deprecations:
		c.Deprecations = append(c.Deprecations, b)
	case *Other:
		c.Others = append(c.Others, b)
	}
}

// ErrNoSource is the cause of an error from Raw if the load did not keep the text and
// its source cannot be read twice.
var ErrNoSource = errors.New("the text was not kept, and its source cannot be read again")

// Raw returns the whole blob as JSON, with heavy properties and unknown fields. It
// returns what KeepAll kept, and otherwise reads the text again from the source. It
// returns an error if the source has changed.
func (c *Catalog) Raw(ctx context.Context, b Blob) ([]byte, error) {
	m := b.Common()
	if m.Raw != nil {
		return m.Raw, nil
	}
	return m.from.Raw(ctx, m)
}

// Raw reads the blob at the location, like [Catalog.Raw]. m has the schema, name and
// position of the blob.
func (t Text) Raw(ctx context.Context, m *Meta) ([]byte, error) {
	src := t.source
	if src == nil {
		return nil, fmt.Errorf("%s %q: %w", m.Schema, m.Name, ErrNoSource)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := t.read(m.Pos.File)
	if err != nil {
		return nil, fmt.Errorf("%s: reading %s %q again: %w", m.Pos, m.Schema, m.Name, err)
	}
	d := newDecoder(src, true)
	again, faults, _ := d.blob(ctx, m.Pos.File, decode.Document{Text: text, Line: m.Pos.Line})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if again == nil {
		return nil, faults
	}
	return again.Common().Raw, nil
}

// read reads the text from its file.
func (t Text) read(file string) ([]byte, error) {
	f, err := t.source.open(file)
	if err != nil {
		return nil, regular.Cause(err)
	}
	defer f.Close()
	text := make([]byte, t.length)
	switch f := f.(type) {
	case io.ReaderAt:
		_, err = f.ReadAt(text, t.offset)
	case io.ReadSeeker:
		if _, err = f.Seek(t.offset, io.SeekStart); err == nil {
			_, err = io.ReadFull(f, text)
		}
	default:
		if _, err = io.CopyN(io.Discard, f, t.offset); err == nil {
			_, err = io.ReadFull(f, text)
		}
	}
	switch {
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return nil, regular.Cause(err)
	case maphash.Bytes(t.source.seed, text) != t.sum:
		return nil, errors.New("the file has changed since it was loaded; load the catalog again")
	}
	return text, nil
}
