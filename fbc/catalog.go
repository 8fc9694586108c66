package fbc

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"

	"github.com/olmkit/olmkit/fbc/internal/regular"
)

// A Catalog holds the blobs of a load, each kind in path order and, within a
// file, in file order. It is not modified after the load and may be shared
// between goroutines; edits return another one.
type Catalog struct {
	Packages     []*Package
	Channels     []*Channel
	Bundles      []*Bundle
	Deprecations []*Deprecations
	Others       []*Other

	// Findings are the faults that a load tolerates, in order of position:
	// properties without a type or value, and the like. Validate repeats them.
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

// ErrNoSource is the cause where the whole text of a blob is asked for, a load
// did not keep it, and what was loaded cannot be read twice.
var ErrNoSource = errors.New("the text was not kept and has no source to read again")

// Raw returns the whole blob as JSON, heavy properties and unknown fields
// included. What a KeepAll load holds is returned as it is; otherwise the text
// is read again from the source, and a source that has changed since is an
// error.
func (c *Catalog) Raw(ctx context.Context, b Blob) ([]byte, error) {
	m := b.Common()
	if m.Raw != nil {
		return m.Raw, nil
	}
	return m.from.Raw(ctx, m)
}

// Raw is [Catalog.Raw] for a blob of which only the text's place is left, and what
// m tells of it: schema, name and position.
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
	d := newDecoder(src, KeepAll)
	again, faults, _ := d.blob(ctx, m.Pos.File, document{text: text, line: m.Pos.Line})
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
