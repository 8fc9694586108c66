package graph

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
)

// A sid is the number of a string in a catalog's table; 0 is "".
type sid uint32

// A table holds all text of a catalog.
type table struct {
	// The whole text, cut every pieceSize bytes. A piece also includes the bytes that
	// follow it in memory, so each string ends in the piece that it begins in.
	pieces []string
	end    []uint32 // end[i] is where string i ends; string i begins at end[i-1]
}

const pieceSize = 64 << 10

// newTable returns the table of a contiguous text.
func newTable(text string, end []uint32) table {
	t := table{end: end}
	for from := 0; from <= len(text); from += pieceSize {
		t.pieces = append(t.pieces, text[from:])
	}
	return t
}

func (t *table) str(i sid) string {
	if i == 0 {
		return ""
	}
	from, to := t.end[i-1], t.end[i]
	at := from % pieceSize
	return t.pieces[from/pieceSize][at : at+to-from]
}

// text returns all text contiguously.
func (t *table) text() string {
	if len(t.pieces) == 0 {
		return ""
	}
	last := len(t.pieces) - 1
	var b strings.Builder
	b.Grow(last*pieceSize + len(t.pieces[last]))
	for _, p := range t.pieces[:last] {
		b.WriteString(p[:pieceSize])
	}
	b.WriteString(t.pieces[last])
	return b.String()
}

// A tableBuilder assigns numbers to strings; equal strings share one. It finds them by hash
// in the text itself, so no string is stored twice. Stored text is never moved, because
// growing one contiguous text would copy it repeatedly.
type tableBuilder struct {
	table
	room  *strings.Builder // of the last pieces, usually one
	limit int              // of the room, a multiple of pieceSize
	first int              // of these pieces
	slots []uint32         // open addressing; 0 is free, because "" is never looked up
	size  uint64           // of the text
	max   uint64           // maximum length of the text, because ends are 32 bits wide
	full  bool             // the text does not fit; further numbers are meaningless
	seed  maphash.Seed
}

func newTableBuilder() *tableBuilder {
	b := &tableBuilder{room: &strings.Builder{}, limit: pieceSize, slots: make([]uint32, 1024), max: math.MaxUint32, seed: maphash.MakeSeed()}
	b.end = []uint32{0}
	return b
}

func (b *tableBuilder) id(s string) sid {
	if s == "" {
		return 0
	}
	return number(b, s, maphash.String(b.seed, s))
}

// bytes returns the number of a string, like id. The caller may modify s afterwards.
func (b *tableBuilder) bytes(s []byte) sid {
	if len(s) == 0 {
		return 0
	}
	return number(b, s, maphash.Bytes(b.seed, s))
}

func number[T string | []byte](b *tableBuilder, s T, hash uint64) sid {
	mask := uint64(len(b.slots) - 1)
	at := hash & mask
	for ; b.slots[at] != 0; at = (at + 1) & mask {
		if b.str(sid(b.slots[at])) == string(s) {
			return sid(b.slots[at])
		}
	}
	if b.room.Len()+len(s) > b.limit && !b.more(len(s)) || !b.add(string(s)) {
		return 0
	}
	id := uint32(len(b.end) - 1)
	b.slots[at] = id
	if 3*len(b.end) > 2*len(b.slots) {
		b.grow()
	}
	return sid(id)
}

// more makes room for a string of n bytes that does not fit into the last pieces.
func (b *tableBuilder) more(n int) bool {
	// The unused rest of the piece becomes a string that nothing refers to.
	if rest := int(-b.size % pieceSize); rest > 0 && !b.add(string(make([]byte, rest))) {
		return false
	}
	b.room, b.first, b.limit = &strings.Builder{}, len(b.pieces), n+(-n&(pieceSize-1))
	b.room.Grow(b.limit)
	return true
}

// add appends a string if it fits into the text.
func (b *tableBuilder) add(s string) bool {
	if b.size+uint64(len(s)) > b.max {
		b.full = true
		return false
	}
	from := b.room.Len() / pieceSize
	b.room.WriteString(s)
	b.size += uint64(len(s))
	if len(b.end) == cap(b.end) {
		b.end = slices.Grow(b.end, len(b.end))
	}
	b.end = append(b.end, uint32(b.size))
	b.pieces = b.pieces[:min(len(b.pieces), b.first+from)]
	for text := b.room.String(); from*pieceSize < len(text); from++ {
		b.pieces = append(b.pieces, text[from*pieceSize:])
	}
	return true
}

// done returns the table; nothing can be added after that.
func (b *tableBuilder) done() table {
	if b.room.Cap()-b.room.Len() > pieceSize/4 {
		text := strings.Clone(b.room.String())
		for k := range b.pieces[b.first:] {
			b.pieces[b.first+k] = text[k*pieceSize:]
		}
	}
	if cap(b.end) > len(b.end)+len(b.end)/8 {
		b.end = slices.Clone(b.end)
	}
	return b.table
}

// grow doubles the number of slots.
func (b *tableBuilder) grow() {
	b.slots = make([]uint32, 2*len(b.slots))
	mask := uint64(len(b.slots) - 1)
	for id := 1; id < len(b.end); id++ {
		at := maphash.String(b.seed, b.str(sid(id))) & mask
		for b.slots[at] != 0 {
			at = (at + 1) & mask
		}
		b.slots[at] = uint32(id)
	}
}

// A span is a half-open range of a flat slice.
type span struct{ from, to uint32 }

func (s span) len() int { return int(s.to - s.from) }

// in returns the part of list that s names.
func in[T any](list []T, s span) []T { return list[s.from:s.to:s.to] }

// grow appends items to list and returns where they are.
func grow[T any](list *[]T, items ...T) span {
	from := uint32(len(*list))
	*list = append(*list, items...)
	return span{from, uint32(len(*list))}
}
