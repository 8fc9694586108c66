package operatorgroup

import (
	"strings"
	"testing"
)

// F7: a generated name holds as much of its base as OLM leaves: the base is cut once it
// and the hash have more than 63 characters.
func TestGeneratedName(t *testing.T) {
	for n := 1; n <= 63; n++ {
		base := strings.Repeat("b", n)
		got, hash, _ := strings.Cut(generatedName(base, []byte("content")), "-")
		want := base
		if n+len(hash) > 63 {
			want = base[:min(n, 62-len(hash))]
		}
		if got != want {
			t.Errorf("a base of %d characters becomes %d, want %d", n, len(got), len(want))
		}
	}
}
