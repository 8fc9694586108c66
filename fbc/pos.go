package fbc

import (
	"cmp"
	"strconv"

	"github.com/olmkit/olmkit/internal/visible"
)

// A Pos is a place in a catalog: a file, slash-separated and relative to the root of
// the catalog, and a line counted from 1. The zero Pos is an unknown place.
type Pos struct {
	File string
	Line int
}

// String returns "file:line", "file" if the line is unknown, or "-" for the zero Pos.
// It is on one line whatever the name of the file.
func (p Pos) String() string {
	switch {
	case p.File == "":
		return "-"
	case p.Line <= 0:
		return visible.Line(p.File)
	}
	return visible.Line(p.File) + ":" + strconv.Itoa(p.Line)
}

// IsValid reports whether the position names a file.
func (p Pos) IsValid() bool { return p.File != "" }

// Compare orders positions by file, then line.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.File, q.File), cmp.Compare(p.Line, q.Line))
}
