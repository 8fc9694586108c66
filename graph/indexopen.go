package graph

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/disk"
)

// OpenIndex reads a compiled index and checks it. Requirements and ranges are parsed on
// first use. Files are read again ([Bundle.Raw]) only if opts has a Source. Of opts.Load,
// Limits.FileSize bounds the file and the memory that its packages need; if they need more
// than 16 times the size of the file, Limits.Expansion bounds the rest.
//
// With opts.OnDemand, OpenIndex reads and checks only the directory of the index; each
// package follows when it is first needed. The file stays open as long as the catalog is in
// use.
//
// The error is an [*IndexError] caused by [ErrNotIndex], [ErrIndexVersion],
// [ErrIndexCorrupt] or an [*fbc.LimitError], or the error from reading the file.
func OpenIndex(name string, opts *Options) (*Catalog, error) {
	f, err := (*disk.Root)(nil).Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	c, err := readIndex(name, f, info.Size(), opts)
	if err != nil || opts == nil || !opts.OnDemand {
		f.Close()
	}
	return c, err
}

// ReadIndex is [OpenIndex] for the first size bytes of r. With opts.OnDemand, r must remain
// usable.
func ReadIndex(r io.ReaderAt, size int64, opts *Options) (*Catalog, error) {
	return readIndex("", r, size, opts)
}

func readIndex(name string, r io.ReaderAt, size int64, opts *Options) (*Catalog, error) {
	c := &Catalog{}
	var limits *constraints.Limits
	if opts != nil {
		limits, c.files, c.load = opts.ConstraintLimits, opts.Source, opts.Load
		if c.files != nil {
			c.reload = func(ctx context.Context) (*fbc.Catalog, error) {
				o := again(c.load)
				o.KeepAll = c.keepsAll()
				return fbc.Load(ctx, c.files, o)
			}
		}
	}
	c.meaning.parser = &parser{compiler: constraints.NewCompiler(limits), parsed: map[[2]string]*outcome[constraints.Expr]{}}
	p, err := c.open(r, size, opts.limits())
	if err != nil {
		return nil, &IndexError{Name: name, Err: err}
	}
	p.name = name
	if opts == nil || !opts.OnDemand {
		if err := p.readAll(); err != nil {
			return nil, err
		}
	}
	c.parts = p
	return c, nil
}

// limits returns the limits on files.
func (o *Options) limits() fbc.Limits {
	if o == nil || o.Load == nil {
		return (*fbc.Limits)(nil).WithDefaults()
	}
	return o.Load.Limits.WithDefaults()
}

// open reads the directory of an index and checks it.
func (c *Catalog) open(r io.ReaderAt, size int64, limits fbc.Limits) (*indexParts, error) {
	d := directory{records: &c.records}
	sections := d.sections()
	// The table states the size of the rest, and is checked before memory is allocated.
	head := make([]byte, max(min(size, int64(headerSize+len(sections)*sectionSize)), 0))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, err
	}
	switch {
	case !IsIndex(head):
		return nil, ErrNotIndex
	case len(head) < headerSize:
		return nil, ErrIndexCorrupt
	case binary.LittleEndian.Uint32(head[8:]) != indexVersion:
		return nil, ErrIndexVersion
	case binary.LittleEndian.Uint64(head[24:]) != uint64(size):
		return nil, fmt.Errorf("%w: it has %d bytes and should have %d", ErrIndexCorrupt, size, binary.LittleEndian.Uint64(head[24:]))
	case size > limits.FileSize:
		return nil, &fbc.LimitError{Limit: "FileSize", What: "file", Size: size, Max: limits.FileSize}
	}
	end, err := checkTable(head, sections, uint64(size))
	if err != nil {
		return nil, err
	}
	// Allocate words, so that every record is aligned.
	words := make([]uint64, (end+7)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), end)
	if n, err := r.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	for i, s := range sections {
		offset, length := place(head, i)
		part := b[offset : offset+length : offset+length]
		if crc32.Checksum(part, castagnoli) != binary.LittleEndian.Uint32(head[headerSize+i*sectionSize+16:]) {
			return nil, fmt.Errorf("%w: the checksum of section %d does not match", ErrIndexCorrupt, i)
		}
		s.take(part)
	}
	if err := c.take(&d); err != nil {
		return nil, err
	}
	p := &indexParts{whole: c, list: d.packages, r: r, at: int64(end), length: uint64(size) - end, loaded: make([]atomic.Pointer[Catalog], len(d.packages))}
	return p, p.check(d.all, size, limits)
}

// place returns the location of a section.
func place(head []byte, section int) (offset, length uint64) {
	at := head[headerSize+section*sectionSize:]
	return binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
}

// checkTable checks that the sections follow one another in a file of that size, and returns
// where the last one ends.
func checkTable(head []byte, sections []section, size uint64) (end uint64, err error) {
	switch table := headerSize + len(sections)*sectionSize; {
	case len(head) < table || int(binary.LittleEndian.Uint32(head[12:])) != len(sections):
		return 0, ErrIndexCorrupt
	case crc32.Checksum(head[24:table], castagnoli) != binary.LittleEndian.Uint32(head[20:]):
		return 0, fmt.Errorf("%w: the checksum of the header does not match", ErrIndexCorrupt)
	case binary.LittleEndian.Uint32(head[16:]) != layout():
		return 0, ErrIndexVersion
	}
	end = uint64(len(head))
	for i, s := range sections {
		offset, length := place(head, i)
		if offset != end || offset%alignment != 0 || length > size-offset || length%uint64(s.record) != 0 || length/uint64(s.record) > 1<<31 {
			return 0, fmt.Errorf("%w: section %d lies outside of the file", ErrIndexCorrupt, i)
		}
		if end = align(offset + length); end > size {
			return 0, ErrIndexCorrupt
		}
	}
	return end, nil
}

// take adds the text of the directory, and everything in it that is not a record, to the
// catalog, whose records are in place.
func (c *Catalog) take(d *directory) error {
	if !slices.IsSorted(c.end) || len(c.end) > 0 && uint64(c.end[len(c.end)-1]) > uint64(len(d.all)) {
		return fmt.Errorf("%w: strings lie outside of the text", ErrIndexCorrupt)
	}
	c.table = newTable(d.all, c.end)
	var more extra
	if err := json.Unmarshal([]byte(d.tail), &more); err != nil {
		return fmt.Errorf("%w: %w", ErrIndexCorrupt, err)
	}
	for _, p := range more.Problems {
		d := &fbc.Diagnostic{
			Code: p.Code, Pos: fbc.Pos{File: p.File, Line: p.Line}, Schema: p.Schema,
			Package: p.Package, Name: p.Name, Path: p.Path, Err: errors.New(p.Message),
		}
		if p.Warning {
			d.Severity = fbc.Warning
		}
		c.problems = append(c.problems, d)
	}
	c.source, c.others = more.Source, more.Others
	c.digestOnce.Do(func() { c.digest = more.Digest })
	return nil
}
