package olm_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
)

// E30: names are cut to 63 bytes, and do not end in punctuation.
func TestOperatorName(t *testing.T) {
	long := strings.Repeat("a", 61)
	for _, c := range []struct{ pkg, namespace, want string }{
		{"etcd", "ops", "etcd.ops"},
		{long, "b", long + ".b"},
		{long, "bc", long + ".b"},
		{long + "a", "b", long + "a"},
		{long[:60], "--b", long[:60]},
	} {
		if got := olm.OperatorName(c.pkg, c.namespace); got != c.want {
			t.Errorf("OperatorName(%q, %q) = %q, want %q", c.pkg, c.namespace, got, c.want)
		}
	}
}
