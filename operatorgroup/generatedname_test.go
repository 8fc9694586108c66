package operatorgroup

import (
	"strings"
	"testing"
)

// F7: a generated name is truncated as OLM's are: its base is cut if base and hash together
// have more than 63 characters.
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
