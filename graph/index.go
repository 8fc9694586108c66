package graph

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/olmkit/olmkit/fbc"
)

// A compiled index is the memory of a catalog's records: a header, a table of sections, and
// the sections, each a flat list of records without pointers. Opening an index only reads
// it; nothing is decoded.
//
//	magic     8 bytes  "olmkitix"
//	version   uint32   of the format
//	sections  uint32
//	layout    uint32   sum of the form of all records and of the byte order
//	checksum  uint32   CRC-32C of the rest of the header and of the table
//	size      uint64   of the file
//	table     for each section: offset uint64, length uint64 in bytes,
//	          CRC-32C uint32, size of a record uint32
//
// Numbers in the header are little-endian. Numbers in records have the machine's byte
// order.
const (
	indexMagic = "olmkitix"
	// indexVersion changes when the meaning or the computation of the data changes, such as
	// which bundles are faulty or how a channel is ordered. If the form of records changes,
	// layout changes instead.
	indexVersion = 4
	headerSize   = 32
	sectionSize  = 24
	alignment    = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A section converts one list of records to bytes and back.
type section struct {
	record int          // size of a record
	form   reflect.Type // of a record
	bytes  func() []byte
	take   func([]byte)
}

func list[T any](at *[]T) section {
	size := int(unsafe.Sizeof(*new(T)))
	return section{
		record: size,
		form:   reflect.TypeFor[T](),
		bytes: func() []byte {
			if len(*at) == 0 {
				return nil
			}
			return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(*at))), len(*at)*size)
		},
		take: func(b []byte) {
			if len(b) > 0 {
				*at = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
			}
		},
	}
}

func text(at *string) section {
	return section{
		record: 1,
		form:   reflect.TypeFor[byte](),
		bytes:  func() []byte { return unsafe.Slice(unsafe.StringData(*at), len(*at)) },
		take: func(b []byte) {
			if len(b) > 0 {
				*at = unsafe.String(unsafe.SliceData(b), len(b))
			}
		},
	}
}

// extra are the parts of an index that are not records.
type extra struct {
	Digest   string    `json:"digest"`
	Source   string    `json:"source,omitempty"`
	Problems []problem `json:"problems,omitempty"`
	Others   []other   `json:"others,omitempty"`
}

type problem struct {
	Code    fbc.Code `json:"code"`
	Warning bool     `json:"warning,omitzero"`
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitzero"`
	Schema  string   `json:"schema,omitempty"`
	Package string   `json:"package,omitempty"`
	Name    string   `json:"name,omitempty"`
	Path    string   `json:"path,omitempty"`
	Message string   `json:"message"`
}

// sections lists the sections in the order of the file.
func (c *Catalog) sections(bundles *[]bundleRec, end *[]uint32, all, more *string) []section {
	return []section{
		list(&c.packages), list(&c.channels), list(&c.entries), list(bundles),
		list(&c.order), list(&c.skips), list(&c.props), list(&c.apis), list(&c.bundleLabels), list(&c.required), list(&c.bundleEntries),
		list(&c.gvks), list(&c.providers), list(&c.labels), list(&c.labeled),
		list(&c.requirements), list(&c.ranges), list(&c.deprecations),
		list(end), text(all), text(more),
	}
}

// layout identifies the form of the records on this machine. It depends on the names, types
// and offsets of fields and on the byte order, and is constant while the program runs.
var layout = sync.OnceValue(func() uint32 {
	var c Catalog
	var all, tail string
	form := describe(c.sections(&c.bundles, &c.end, &all, &tail), binary.NativeEndian)
	return crc32.Checksum([]byte(form), castagnoli)
})

// describe returns the form of the records, one line per field.
func describe(sections []section, order binary.ByteOrder) string {
	var b strings.Builder
	fmt.Fprintln(&b, order)
	var visit func(at string, t reflect.Type, offset uintptr)
	visit = func(at string, t reflect.Type, offset uintptr) {
		if t.Kind() != reflect.Struct {
			fmt.Fprintln(&b, offset, at, t.Kind())
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			visit(at+"."+f.Name, f.Type, offset+f.Offset)
		}
	}
	for i, s := range sections {
		fmt.Fprintf(&b, "section %d: %d bytes\n", i, s.record)
		visit(s.form.Name(), s.form, 0)
	}
	return b.String()
}

// WriteIndex writes the catalog as a compiled index for [OpenIndex]. source is the hash
// of the files that the catalog was loaded from ([HashSource]), which identifies a
// stale index; it may be empty. Catalogs from the same files give the same bytes on
// machines of the same kind.
//
// A load leaves install modes in the files. WriteIndex reads them from there and includes
// them ([Bundle.InstallModes]). If the files are gone, the index does not have them.
func WriteIndex(ctx context.Context, w io.Writer, c *Catalog, source string) error {
	bundles, end, all, err := c.withModes(ctx)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	more := extra{Digest: c.Digest(), Source: source, Others: c.others}
	for _, d := range c.problems {
		more.Problems = append(more.Problems, problem{
			Code: d.Code, Warning: d.Severity == fbc.Warning, File: d.Pos.File, Line: d.Pos.Line,
			Schema: d.Schema, Package: d.Package, Name: d.Name, Path: d.Path, Message: d.Err.Error(),
		})
	}
	rest, err := json.Marshal(more)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	tail := string(rest)
	sections := c.sections(&bundles, &end, &all, &tail)
	head := make([]byte, headerSize, headerSize+len(sections)*sectionSize)
	offset := uint64(cap(head))
	for _, s := range sections {
		b := s.bytes()
		head = binary.LittleEndian.AppendUint64(head, offset)
		head = binary.LittleEndian.AppendUint64(head, uint64(len(b)))
		head = binary.LittleEndian.AppendUint32(head, crc32.Checksum(b, castagnoli))
		head = binary.LittleEndian.AppendUint32(head, uint32(s.record))
		offset = align(offset + uint64(len(b)))
	}
	copy(head, indexMagic)
	binary.LittleEndian.PutUint32(head[8:], indexVersion)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(sections)))
	binary.LittleEndian.PutUint32(head[16:], layout())
	binary.LittleEndian.PutUint64(head[24:], offset)
	binary.LittleEndian.PutUint32(head[20:], crc32.Checksum(head[24:], castagnoli))
	out := bufio.NewWriterSize(w, 1<<20)
	out.Write(head) // a bufio.Writer keeps its first error for Flush
	for _, s := range sections {
		b := s.bytes()
		out.Write(b)
		out.Write(make([]byte, align(uint64(len(b)))-uint64(len(b))))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	return nil
}

func align(n uint64) uint64 { return (n + alignment - 1) &^ (alignment - 1) }

// IsIndex reports whether text begins like a compiled index. It needs eight bytes.
func IsIndex(text []byte) bool { return len(text) >= 8 && string(text[:8]) == indexMagic }

// An IndexError reports why a compiled index cannot be used.
type IndexError struct {
	Name string // of the file, if known
	Err  error
}

// Error returns "index NAME: reason".
func (e *IndexError) Error() string {
	if e.Name == "" {
		return "index: " + e.Err.Error()
	}
	return fmt.Sprintf("index %s: %v", e.Name, e.Err)
}

// Unwrap returns the cause.
func (e *IndexError) Unwrap() error { return e.Err }

var (
	// ErrNotIndex is the cause if the file is not an index.
	ErrNotIndex = errors.New("is not a compiled index; write one with \"olmkit index\"")
	// ErrIndexVersion is the cause if another version of this library, or a
	// different kind of machine, wrote the file.
	ErrIndexVersion = errors.New("was written in another format; write it again")
	// ErrIndexCorrupt is the cause if the file is truncated or damaged.
	ErrIndexCorrupt = errors.New("is truncated or damaged; write it again")
)
