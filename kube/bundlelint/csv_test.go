package bundlelint

import (
	"fmt"
	"strings"
	"testing"
)

// The name of a CSV is checked once, as the name of an object or as the value of a label.
func TestCSVName(t *testing.T) { // K233, K234
	for _, test := range []struct{ name, want string }{
		{strings.Repeat("a", 63), ""},
		{strings.Repeat("a", 64), "the name of the CSV has 64 bytes"},
		{strings.Repeat("a", 254), "no more than 253 characters"},
		{"Demo_v1", "a lowercase RFC 1123 subdomain"},
		{"", "a manifest of a bundle needs a name"},
	} {
		found := lint(t, example(t, fmt.Sprintf("kind: ClusterServiceVersion\nmetadata: {name: %q}\n", test.name)))
		switch {
		case test.want == "" && len(found) > 0, test.want != "" && (len(found) != 1 || !strings.Contains(found[0].Error(), test.want)):
			t.Errorf("%q: want %q, got\n%v", test.name, test.want, found)
		}
	}
}
