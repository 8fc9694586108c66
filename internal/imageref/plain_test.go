package imageref

import (
	"strings"
	"testing"
)

// FuzzPlain checks that every reference in the usual form is valid (A17).
func FuzzPlain(f *testing.F) {
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	for _, s := range []string{
		"quay.io/org/name:v1.0", "quay.io/org/name" + digest, "a.b/c:T_1.2-x" + digest, "docker.io/x", "index.docker.io/x", "1.2.3.4/a",
		"a.b/" + strings.Repeat("ab", 32), "localhost/a", "a.b:1/c", "a..b/c", "a.b/c__d", "a.b/c:" + strings.Repeat("x", 128), "a.b/c.-d", "a.b-/c", "a.b/c@",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, image string) {
		if err := check(image); err != nil && plain(image) {
			t.Errorf("%q is not valid: %v", image, err)
		}
	})
}

// TestPlain checks that references of catalogs need no parser.
func TestPlain(t *testing.T) {
	for image, want := range map[string]bool{
		"quay.io/operatorhubio/catalog_1:v1.2.3-4":                          true,
		"registry.example.com/a-b/c.d@sha256:" + strings.Repeat("0af9", 16): true,
		"quay.io/a:v1@sha256:" + strings.Repeat("0af9", 16):                 true,
		"quay.io/A:v1": false, "a": false, "quay.io/a:": false, "quay.io/a@sha256:0": false, "quay.io//a": false,
	} {
		if got := plain(image); got != want {
			t.Errorf("plain(%q) = %v, want %v", image, got, want)
		}
	}
}
