package graph

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"unsafe"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
)

// OpenIndex opens a compiled index: one read, and a check of what was read. What
// requirements and ranges mean is read when it is first asked for. Files are read
// again ([Bundle.Raw]) only where opts names a Source.
//
// An error is an [*IndexError], with [ErrNotIndex], [ErrIndexVersion] or
// [ErrIndexCorrupt] as its cause, or that of reading the file.
func OpenIndex(name string, opts *Options) (*Catalog, error) {
	f, err := os.Open(name)
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
	refuse := func(err error) (*Catalog, error) { return nil, &IndexError{Err: err} }
	if size < 0 {
		return refuse(ErrNotIndex)
	}
	var head [headerSize]byte
	if n, err := r.ReadAt(head[:min(size, headerSize)], 0); int64(n) < min(size, headerSize) {
		return refuse(err)
	}
	switch {
	case !IsIndex(head[:]):
		return refuse(ErrNotIndex)
	case size < headerSize:
		return refuse(ErrIndexCorrupt)
	case binary.LittleEndian.Uint32(head[8:]) != indexVersion:
		return refuse(ErrIndexVersion)
	case binary.LittleEndian.Uint64(head[24:]) != uint64(size):
		return refuse(fmt.Errorf("%w: it has %d bytes and should have %d", ErrIndexCorrupt, size, binary.LittleEndian.Uint64(head[24:])))
	}
	// Words, so that every record lies where the machine wants it.
	words := make([]uint64, (size+7)/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size)
	if n, err := r.ReadAt(b, 0); int64(n) < size {
		return refuse(err)
	}
	c := &Catalog{}
	if err := c.open(b); err != nil {
		return refuse(err)
	}
	c.meaning.exprs = make([]lazy[constraints.Expr], len(c.requirements))
	c.meaning.ranges = make([]lazy[constraints.Range], len(c.ranges))
	var limits *constraints.Limits
	if opts != nil {
		limits, c.files, c.load = opts.ConstraintLimits, opts.Source, opts.Load
		if c.files != nil {
			c.reload = func(ctx context.Context) (*fbc.Catalog, error) {
				o := again(c.load)
				if o.Keep = fbc.KeepResolution; c.keepsAll() {
					o.Keep = fbc.KeepAll
				}
				return fbc.Load(ctx, c.files, o)
			}
		}
	}
	c.meaning.compiler = constraints.NewCompiler(limits)
	return c, nil
}

// open points the catalog at the sections in b and checks them.
func (c *Catalog) open(b []byte) error {
	var all, tail string
	sections := c.sections(&c.bundles, &c.end, &all, &tail)
	table := headerSize + len(sections)*sectionSize
	switch {
	case len(b) < table || int(binary.LittleEndian.Uint32(b[12:])) != len(sections):
		return ErrIndexCorrupt
	case crc32.Checksum(b[24:table], castagnoli) != binary.LittleEndian.Uint32(b[20:]):
		return fmt.Errorf("%w: the checksum of the header does not match", ErrIndexCorrupt)
	case binary.LittleEndian.Uint32(b[16:]) != layout():
		return ErrIndexVersion
	}
	end := uint64(table)
	parts := make([][]byte, len(sections))
	for i, s := range sections {
		at := b[headerSize+i*sectionSize:]
		offset, length := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
		size := uint64(len(b))
		if offset != end || offset%alignment != 0 || length > size-offset || length%uint64(s.record) != 0 || length/uint64(s.record) > 1<<31 {
			return fmt.Errorf("%w: section %d lies outside of the file", ErrIndexCorrupt, i)
		}
		parts[i] = b[offset : offset+length : offset+length]
		s.take(parts[i])
		if end = align(offset + length); end > size {
			return ErrIndexCorrupt
		}
	}
	// Both take as long as reading the file does; together, on two processors.
	checked := make(chan error, 1)
	go func() { checked <- checkSums(b, parts) }()
	err := c.take(all, tail)
	if damaged := <-checked; damaged != nil {
		return damaged
	}
	return err
}

// checkSums compares the parts of an index with the checksums in its table.
func checkSums(b []byte, parts [][]byte) error {
	for i, part := range parts {
		if crc32.Checksum(part, castagnoli) != binary.LittleEndian.Uint32(b[headerSize+i*sectionSize+16:]) {
			return fmt.Errorf("%w: the checksum of section %d does not match", ErrIndexCorrupt, i)
		}
	}
	return nil
}

// take completes the catalog, whose records are in place, with its text and what is
// not a record, and checks them.
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
	c.source = more.Source
	c.digestOnce.Do(func() { c.digest = more.Digest })
	if record := c.inconsistent(all); record != "" {
		return fmt.Errorf("%w: a record of a %s does not match the others", ErrIndexCorrupt, record)
	}
	return nil
}
