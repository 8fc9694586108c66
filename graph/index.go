package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"github.com/olmkit/olmkit/fbc"
)

// A compiled index consists of a directory, which is read when the index is opened, and of
// packages, which are read when they are needed.
//
//	magic     8 bytes  "olmkitix"
//	version   uint32   of the format
//	sections  uint32   of the directory
//	layout    uint32   sum of the form of all records and of the byte order
//	checksum  uint32   CRC-32C of the rest of the header and of the table
//	size      uint64   of the file
//	table     for each section: offset uint64, length uint64 in bytes,
//	          CRC-32C uint32, size of a record uint32
//	sections  flat lists of records, as they are in memory
//	packages  one after another, as records.pack writes them
//
// Numbers in the header are little-endian. Numbers in the sections have the machine's byte
// order. The directory holds the place, size and checksum of each package, and the packages
// that provide each API or have each label.
const (
	indexMagic = "olmkitix"
	// indexVersion changes when the meaning or the computation of the data changes, such as
	// which bundles are faulty or how a channel is ordered. If the form of records changes,
	// layout changes instead.
	indexVersion = 5
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

// A partRec is a package in the directory of an index.
type partRec struct {
	name sid
	sum  uint32 // CRC-32C
	end  uint64 // where it ends in the file, counted from where the first package begins
	// memory is the size of its records and text in memory, in bytes.
	memory uint32
	// The number of channels, entries and bundles in this package and those before it.
	channels, entries, bundles uint32
}

// sections lists the sections of the directory in the order of the file. In the directory,
// the providers of an API and the bundles with a label are numbers of packages.
func (d *directory) sections() []section {
	return []section{
		list(&d.packages), list(&d.records.gvks), list(&d.records.providers), list(&d.records.labels), list(&d.records.labeled),
		list(&d.records.end), text(&d.all), text(&d.tail),
	}
}

// A directory is the part of an index that is read when it is opened.
type directory struct {
	packages []partRec
	records  *records
	all      string // the text of the records
	tail     string // an extra as JSON
}

// layout identifies the form of the records on this machine. It depends on the names, types
// and offsets of fields and on the byte order, and is constant while the program runs.
var layout = sync.OnceValue(func() uint32 {
	return crc32.Checksum([]byte(describe(binary.NativeEndian)), castagnoli)
})

// describe returns the form of the records, one line per field.
func describe(order binary.ByteOrder) string {
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
	d := directory{records: &records{}}
	for i, s := range d.sections() {
		fmt.Fprintf(&b, "section %d: %d bytes\n", i, s.record)
		visit(s.form.Name(), s.form, 0)
	}
	i := 0
	d.records.walk(func(_ []uint32, form reflect.Type) []uint32 {
		fmt.Fprintf(&b, "list %d: %d bytes\n", i, form.Size())
		visit(form.Name(), form, 0)
		i++
		return nil
	})
	return b.String()
}

// align rounds an offset up.
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
