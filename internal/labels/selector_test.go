package labels_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/labels"
)

var (
	word   = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	domain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

func wantKey(key string) bool {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		prefix, name = "a", prefix
	}
	return len(prefix) <= 253 && domain.MatchString(prefix) && len(name) <= 63 && word.MatchString(name)
}

// FuzzKey checks label keys against the patterns of Kubernetes (F1).
func FuzzKey(f *testing.F) {
	for _, key := range []string{
		"", "a", "A-_.9", "-a", "a-", "a\n", "é", "a/", "/a", "a/b/c", "x.y-z/B", "x..y/b", "x.-y/b", "x./b", ".x/b", "X/b", "x_y/b", "x\n/b",
		strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("a.", 126) + "a/b", strings.Repeat("a.", 127) + "a/b",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		r := labels.Requirement{Key: key, Operator: labels.Exists}
		if path, err := r.Validate(); (err == nil) != wantKey(key) || err != nil && path != "/key" {
			t.Errorf("key %q: %s, %v", key, path, err)
		}
	})
}
