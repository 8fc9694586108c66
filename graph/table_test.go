package graph

import "testing"

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
