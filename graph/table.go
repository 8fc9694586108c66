package graph

import (
	"hash/maphash"
	"math"
	"strings"
)

// A sid is the number of a string in a catalog's table; 0 is "".
type sid uint32

// A table holds all text of a catalog in one string.
type table struct {
	text string
	end  []uint32 // end[i] is where string i ends; string i begins at end[i-1]
}

func (t *table) str(i sid) string {
	if i == 0 {
		return ""
	}
	return t.text[t.end[i-1]:t.end[i]]
}

// A tableBuilder numbers strings, equal ones alike. It finds them by hash in the
// text itself, so that no string is held twice.
type tableBuilder struct {
	text  strings.Builder
	end   []uint32
	slots []uint32 // open addressing; 0 is free, for "" is never looked for
	max   uint64   // how long the text can become, as ends are 32 bits wide
	full  bool     // the text does not fit; numbers make no sense from here on
	seed  maphash.Seed
}

func newTableBuilder() *tableBuilder {
	return &tableBuilder{end: []uint32{0}, slots: make([]uint32, 1024), max: math.MaxUint32, seed: maphash.MakeSeed()}
}

func (b *tableBuilder) id(s string) sid {
	if s == "" {
		return 0
	}
	return number(b, s, maphash.String(b.seed, s))
}

// bytes is id for text that may change later.
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
	id := uint32(len(b.end))
	if uint64(b.text.Len())+uint64(len(s)) > b.max {
		b.full = true
		return 0
	}
	b.text.WriteString(string(s))
	b.end = append(b.end, uint32(b.text.Len()))
	b.slots[at] = id
	if 2*len(b.end) > len(b.slots) {
		b.grow()
	}
	return sid(id)
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

// str returns a string that was numbered.
func (b *tableBuilder) str(i sid) string {
	if i == 0 {
		return ""
	}
	return b.text.String()[b.end[i-1]:b.end[i]]
}

func (b *tableBuilder) table() table { return table{text: b.text.String(), end: b.end} }

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
