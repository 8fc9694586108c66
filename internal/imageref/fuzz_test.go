package imageref

import (
	_ "crypto/sha256" // register the algorithms that digests are checked for
	_ "crypto/sha512"
	"strings"
	"testing"

	"github.com/distribution/reference"
	"github.com/opencontainers/go-digest"
)

// FuzzCheck compares Check with the parsers that registry clients use, and their errors (A17).
func FuzzCheck(f *testing.F) {
	hex := strings.Repeat("0123456789abcdef", 8)
	for _, s := range []string{
		"quay.io/org/name:v1.0", "quay.io/org/name@sha256:" + hex[:64], "a.b/c:T_1.2-x@sha256:" + hex[:64], "docker.io/x", "index.docker.io/x", "1.2.3.4/a",
		"a.b/" + strings.Repeat("ab", 32), "localhost/a", "localhost:5000/a:1", "a.b:1/c", "a..b/c", "a.b/c__d", "a.b/c:" + hex, "a.b/c.-d", "a.b-/c", "a.b/c@",
		"A_B.c/d", "a___b", "a--b", "a:1/b", "quay.io:/a", "a@sha256+b64:" + hex[:64], "a@sha384:" + hex[:96], "a@sha512:" + hex, "a@sha512:" + hex[:64],
		"a@sha256:" + hex[:63] + "A", "a@md5:" + hex[:32], "a@SHA256:" + hex[:64], "a@sha256:", "é/a", "quay.io/K", "quay.io/a\n", "[::1]/a", hex[:64],
		"q.io/" + strings.Repeat("a/", 124) + "aa", "index.docker.io/" + strings.Repeat("a/", 122) + "aa", "docker.io/" + strings.Repeat("a", 237),
		strings.Repeat("a", 238), "b/" + strings.Repeat("a", 243), "localhost/" + strings.Repeat("a", 246),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, image string) {
		rest, d, hasDigest := strings.Cut(image, "@")
		if hasDigest {
			got, want := text(checkDigest(d)), text(digest.Digest(d).Validate())
			if got != want {
				t.Fatalf("digest of %q: %q, want %q", image, got, want)
			}
			if want != "" {
				return
			}
		}
		registry, path, ok := strings.Cut(rest, "/")
		if !ok || !strings.ContainsAny(registry, ".:") {
			path = rest
		}
		name, _, _ := strings.Cut(path, ":")
		if strings.ToLower(name) != name || strings.HasPrefix(image, "[") {
			return // Check does not accept these
		}
		named, err := reference.ParseNormalizedNamed(image)
		if err == nil && len(named.Name()) > reference.RepositoryNameTotalLengthMax {
			err = reference.ErrNameTooLong
		}
		if err == reference.ErrNameContainsUppercase {
			err = reference.ErrReferenceInvalidFormat // the registry has upper-case letters, and an underscore
		}
		if got, want := text(checkReference(image)), text(err); got != want {
			t.Errorf("reference %q: %q, want %q", image, got, want)
		}
	})
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
