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
		return fmt.Errorf("%w: the checksum of the header does not fit", ErrIndexCorrupt)
	case binary.LittleEndian.Uint32(b[16:]) != layout():
		return ErrIndexVersion
	}
	end := uint64(table)
	for i, s := range sections {
		at := b[headerSize+i*sectionSize:]
		offset, length := binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])
		size := uint64(len(b))
		if offset != end || offset%alignment != 0 || length > size-offset || length%uint64(s.record) != 0 || length/uint64(s.record) > 1<<31 {
			return fmt.Errorf("%w: section %d lies outside of the file", ErrIndexCorrupt, i)
		}
		part := b[offset : offset+length : offset+length]
		if crc32.Checksum(part, castagnoli) != binary.LittleEndian.Uint32(at[16:]) {
			return fmt.Errorf("%w: the checksum of section %d does not fit", ErrIndexCorrupt, i)
		}
		s.take(part)
		if end = align(offset + length); end > size {
			return ErrIndexCorrupt
		}
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
	if !c.consistent(len(all)) {
		return fmt.Errorf("%w: records refer to what is not there", ErrIndexCorrupt)
	}
	return nil
}

// consistent reports whether every number in the records refers to something
// that exists, so that no question can go astray, whoever made the file.
func (c *Catalog) consistent(text int) bool {
	ok := true
	var last uint32
	for _, e := range c.end {
		ok = ok && last <= e
		last = e
	}
	if !ok || uint64(last) > uint64(text) {
		return false
	}
	n := func(length int) uint32 { return uint32(length) }
	sids, problems, deprecations := n(max(len(c.end), 1)), n(len(c.problems)), n(len(c.deprecations))
	// Parts of the records; in is within a list, to is 1 + a number or 0.
	within := func(s span, length int) bool { return s.from <= s.to && s.to <= n(length) }
	all := func(list []uint32, below int) bool {
		for _, x := range list {
			if x >= n(below) {
				return false
			}
		}
		return true
	}
	texts := func(list []sid) bool {
		for _, x := range list {
			if uint32(x) >= sids {
				return false
			}
		}
		return true
	}
	for i := range c.packages {
		r := &c.packages[i]
		if uint32(max(r.name, r.defaultChannel, r.pos.file)) >= sids || r.deprecated > deprecations ||
			!within(r.channels, len(c.channels)) || !within(r.bundles, len(c.bundles)) {
			return false
		}
	}
	for i := range c.channels {
		r := &c.channels[i]
		if uint32(max(r.name, r.pos.file)) >= sids || r.deprecated > deprecations || r.fault > problems || r.pkg >= n(len(c.packages)) ||
			r.head > n(len(c.entries)) || !within(r.entries, len(c.entries)) || !within(r.order, len(c.order)) {
			return false
		}
	}
	for i := range c.entries {
		r := &c.entries[i]
		if uint32(max(r.name, r.replaces)) >= sids || r.channel >= n(len(c.channels)) || r.bundle > n(len(c.bundles)) ||
			r.skipRange > n(len(c.ranges)) || !within(r.skips, len(c.skips)) || r.rank > n(len(c.order)) {
			return false
		}
	}
	for i := range c.bundles {
		r := &c.bundles[i]
		if uint32(max(r.name, r.image, r.version.pre, r.version.build, r.pos.file)) >= sids || r.pkg >= n(len(c.packages)) ||
			r.deprecated > deprecations || r.fault > problems || r.modes >= modesAreHere+sids ||
			!within(r.props, len(c.props)) || !within(r.apis, len(c.apis)) || !within(r.labels, len(c.bundleLabels)) ||
			!within(r.required, len(c.required)) || !within(r.entries, len(c.bundleEntries)) {
			return false
		}
	}
	for _, r := range c.props {
		if uint32(r.typ) >= sids || r.value > sids {
			return false
		}
	}
	for _, r := range c.required {
		if r.requirement >= n(len(c.requirements)) {
			return false
		}
	}
	for _, r := range c.requirements {
		if uint32(max(r.typ, r.value)) >= sids {
			return false
		}
	}
	for _, r := range c.deprecations {
		if uint32(r.message) >= sids {
			return false
		}
	}
	for _, r := range c.gvks {
		if uint32(max(r.group, r.version, r.kind)) >= sids || !within(r.providers, len(c.providers)) {
			return false
		}
	}
	for _, r := range c.labels {
		if uint32(r.label) >= sids || !within(r.bundles, len(c.labelled)) {
			return false
		}
	}
	return all(c.order, len(c.entries)) && all(c.apis, len(c.gvks)) && all(c.bundleEntries, len(c.entries)) &&
		all(c.providers, len(c.bundles)) && all(c.labelled, len(c.bundles)) &&
		texts(c.skips) && texts(c.bundleLabels) && texts(c.ranges)
}
