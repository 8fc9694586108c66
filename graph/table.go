package graph

import "strings"

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

// A tableBuilder numbers strings, equal ones alike.
type tableBuilder struct {
	text strings.Builder
	end  []uint32
	ids  map[string]sid
}

func newTableBuilder() *tableBuilder {
	return &tableBuilder{end: []uint32{0}, ids: map[string]sid{"": 0}}
}

func (b *tableBuilder) id(s string) sid {
	if id, ok := b.ids[s]; ok {
		return id
	}
	id := sid(len(b.end))
	b.text.WriteString(s)
	b.end = append(b.end, uint32(b.text.Len()))
	b.ids[s] = id
	return id
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
