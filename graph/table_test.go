package graph

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTableFull(t *testing.T) {
	b := newTableBuilder()
	b.max = 5
	for _, s := range []string{"abc", "", "de", "abc"} {
		if b.id(s); b.full {
			t.Fatalf("full after %q", s)
		}
	}
	if b.bytes([]byte("f")); !b.full {
		t.Error("six bytes fit in five")
	}
}

// TestTablePieces adds texts of all lengths, some longer than a piece, and
// reads them back while adding more, at the end, and from contiguous text.
func TestTablePieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := newTableBuilder()
		var texts []string
		var ids []sid
		check := func(what string, t2 *table) {
			t.Helper()
			for i, s := range texts {
				if got := t2.str(ids[i]); got != s {
					t.Fatalf("%s: string %d of %d has %d bytes, want %d", what, i, len(texts), len(got), len(s))
				}
			}
		}
		for range 100 {
			n := 1 + r.IntN(3000)
			switch r.IntN(20) {
			case 0:
				n = pieceSize - b.room.Len()%pieceSize // to the last byte
			case 1:
				n = 1 + r.IntN(3*pieceSize)
			case 2:
				n = pieceSize * (1 + r.IntN(2))
			}
			s := strings.Repeat(string(rune('a'+r.IntN(26))), max(n, 1))
			id := b.id(s)
			if again := b.bytes([]byte(s)); again != id {
				t.Fatalf("%d bytes are number %d, then %d", n, id, again)
			}
			texts, ids = append(texts, s), append(ids, id)
			check("while it grows", &b.table)
		}
		whole := b.done()
		check("in pieces", &whole)
		one := newTable(whole.text(), whole.end)
		check("in one place", &one)
	}
}
