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
	"unsafe"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/disk"
)

// OpenIndex reads a compiled index and checks it. Requirements and ranges are parsed on
// first use. Files are read again ([Bundle.Raw]) only if opts has a Source.
// Limits.FileSize of opts.Load bounds the file.
//
// The error is an [*IndexError] caused by [ErrNotIndex], [ErrIndexVersion],
// [ErrIndexCorrupt] or an [*fbc.LimitError], or the error from reading the file.
func OpenIndex(name string, opts *Options) (*Catalog, error) {
	f, err := (*disk.Root)(nil).Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	c, err := ReadIndex(f, info.Size(), opts)
	var bad *IndexError
	if errors.As(err, &bad) {
		bad.Name = name
	}
	return c, err
}

// ReadIndex is [OpenIndex] for the first size bytes of r.
func ReadIndex(r io.ReaderAt, size int64, opts *Options) (*Catalog, error) {
	c := &Catalog{}
	if err := c.open(r, size, opts.fileSize()); err != nil {
		return nil, &IndexError{Err: err}
	}
	c.meaning.exprs = make([]lazy[constraints.Expr], len(c.requirements))
	c.meaning.ranges = make([]lazy[constraints.Range], len(c.ranges))
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
	c.meaning.compiler = constraints.NewCompiler(limits)
	return c, nil
}

// fileSize returns the maximum size of a file.
func (o *Options) fileSize() int64 {
	if o == nil || o.Load == nil {
		return (*fbc.Limits)(nil).WithDefaults().FileSize
	}
	return o.Load.Limits.WithDefaults().FileSize
}

// open reads an index, points the catalog at its sections and checks them.
func (c *Catalog) open(r io.ReaderAt, size, limit int64) error {
	var all, tail string
	sections := c.sections(&c.bundles, &c.end, &all, &tail)
	// The table states the size of the rest, and is checked before memory is allocated.
	head := make([]byte, max(min(size, int64(headerSize+len(sections)*sectionSize)), 0))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return err
	}
	switch {
	case !IsIndex(head):
		return ErrNotIndex
	case len(head) < headerSize:
		return ErrIndexCorrupt
	case binary.LittleEndian.Uint32(head[8:]) != indexVersion:
		return ErrIndexVersion
	case binary.LittleEndian.Uint64(head[24:]) != uint64(size):
		return fmt.Errorf("%w: it has %d bytes and should have %d", ErrIndexCorrupt, size, binary.LittleEndian.Uint64(head[24:]))
	case size > limit:
		return &fbc.LimitError{Limit: "FileSize", What: "file", Size: size, Max: limit}
	}
	if err := checkTable(head, sections, uint64(size)); err != nil {
		return err
	}
	// Allocate words, so that every record is aligned.
	words := make([]uint64, (size+7)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	if n, err := r.ReadAt(b, 0); int64(n) < size {
		return err
	}
	parts := make([][]byte, len(sections))
	for i, s := range sections {
		offset, length := place(head, i)
		parts[i] = b[offset : offset+length : offset+length]
		s.take(parts[i])
	}
	// Each takes as long as reading the file, so they run in parallel.
	checked := make(chan error, 1)
	go func() { checked <- checkSums(head, parts) }()
	err := c.take(all, tail)
	if damaged := <-checked; damaged != nil {
		return damaged
	}
	return err
}

// place returns the location of a section.
func place(head []byte, section int) (offset, length uint64) {
	at := head[headerSize+section*sectionSize:]
	return binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
}

// checkTable checks that the sections consecutively fill a file of that size.
func checkTable(head []byte, sections []section, size uint64) error {
	switch table := headerSize + len(sections)*sectionSize; {
	case len(head) < table || int(binary.LittleEndian.Uint32(head[12:])) != len(sections):
		return ErrIndexCorrupt
	case crc32.Checksum(head[24:table], castagnoli) != binary.LittleEndian.Uint32(head[20:]):
		return fmt.Errorf("%w: the checksum of the header does not match", ErrIndexCorrupt)
	case binary.LittleEndian.Uint32(head[16:]) != layout():
		return ErrIndexVersion
	}
	end := uint64(len(head))
	for i, s := range sections {
		offset, length := place(head, i)
		if offset != end || offset%alignment != 0 || length > size-offset || length%uint64(s.record) != 0 || length/uint64(s.record) > 1<<31 {
			return fmt.Errorf("%w: section %d lies outside of the file", ErrIndexCorrupt, i)
		}
		if end = align(offset + length); end > size {
			return ErrIndexCorrupt
		}
	}
	if end != size {
		return fmt.Errorf("%w: its sections do not fill it", ErrIndexCorrupt)
	}
	return nil
}

// checkSums compares the parts of an index with the checksums in its table.
func checkSums(head []byte, parts [][]byte) error {
	for i, part := range parts {
		if crc32.Checksum(part, castagnoli) != binary.LittleEndian.Uint32(head[headerSize+i*sectionSize+16:]) {
			return fmt.Errorf("%w: the checksum of section %d does not match", ErrIndexCorrupt, i)
		}
	}
	return nil
}

// take adds the text and everything else that is not a record to the catalog, whose records
// are in place, and checks the result.
func (c *Catalog) take(all, tail string) error {
	if !slices.IsSorted(c.end) || len(c.end) > 0 && uint64(c.end[len(c.end)-1]) > uint64(len(all)) {
		return fmt.Errorf("%w: strings lie outside of the text", ErrIndexCorrupt)
	}
	c.table = newTable(all, c.end)
	var more extra
	if err := json.Unmarshal([]byte(tail), &more); err != nil {
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
	if record := c.inconsistent(all); record != "" {
		return fmt.Errorf("%w: a record of a %s does not match the others", ErrIndexCorrupt, record)
	}
	return nil
}
