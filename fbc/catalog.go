package fbc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/go-json-experiment/json/jsontext"
)

// A Catalog holds the blobs of a load, each kind in path order and, within a
// file, in file order. It is not modified after the load and may be shared
// between goroutines.
type Catalog struct {
	Packages     []*Package
	Channels     []*Channel
	Bundles      []*Bundle
	Deprecations []*Deprecations
	Others       []*Other

	// Findings are the faults that a load tolerates, in order of position:
	// properties without a type or value, and the like. Validate repeats them.
	Findings Diagnostics

	fsys   fs.FS
	limits *Limits
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

// Raw returns the whole blob as JSON, heavy properties and unknown fields
// included. What a KeepAll load holds is returned as it is; otherwise the text
// is read again from the source, and a source that has changed since is an
// error.
func (c *Catalog) Raw(ctx context.Context, b Blob) (jsontext.Value, error) {
	m := b.Common()
	if m.Raw != nil {
		return jsontext.Value(m.Raw), nil
	}
	if c.fsys == nil || !m.Pos.IsValid() {
		return nil, fmt.Errorf("%s %q: the text was not kept and has no source to read again", m.Schema, m.Name)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := readExtent(c.fsys, m.Pos.File, m.from)
	if err != nil {
		return nil, fmt.Errorf("%s: reading the blob again: %w", m.Pos, err)
	}
	d := newDecoder(c.limits, KeepAll)
	again, faults := d.blob(m.Pos.File, document{text: text, line: m.Pos.Line})
	if again == nil || again.Common().Schema != m.Schema || again.Common().Name != m.Name {
		err := fmt.Errorf("%s: the source changed after it was loaded: %s %q is no longer there; load the catalog again", m.Pos, m.Schema, m.Name)
		return nil, errors.Join(err, faults.Err())
	}
	return jsontext.Value(again.Common().Raw), nil
}

// readExtent reads length bytes at offset of a file.
func readExtent(fsys fs.FS, name string, at extent) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, at.length)
	if ra, ok := f.(io.ReaderAt); ok {
		_, err = ra.ReadAt(buf, at.offset)
		if err == io.EOF {
			err = nil
		}
		return buf, err
	}
	if s, ok := f.(io.Seeker); ok {
		_, err = s.Seek(at.offset, io.SeekStart)
	} else {
		_, err = io.CopyN(io.Discard, f, at.offset)
	}
	if err == nil {
		_, err = io.ReadFull(f, buf)
	}
	return buf, err
}
