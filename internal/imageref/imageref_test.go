package imageref

import (
	"strings"
	"testing"
)

// TestImage accepts and rejects the same references as opm (A17). The differential test of
// module compare generates more of them.
func TestImage(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 8)
	for image, want := range map[string]string{
		"a":                          "",
		"localhost/a":                "",
		"localhost:5000/a/b:v1":      "",
		"Quay.IO/a/b:V1":             "",
		"foo_bar.com/x":              "", // a name on docker.io
		"ex_ample.com/a":             "",
		"a:1@sha256:" + hex[:64]:     "",
		"a@sha384:" + hex[:96]:       "",
		"a@sha512:" + hex:            "",
		"a@md5:" + hex[:32]:          "unsupported digest algorithm",
		"a@sha265:" + hex[:64]:       "unsupported digest algorithm",
		"a@SHA256:" + hex[:64]:       "invalid checksum digest format",
		"a@sha256:" + hex[:63]:       "invalid checksum digest length",
		"a@sha256:" + hex[:65]:       "invalid checksum digest length",
		"a@sha256:" + hex[:63] + "A": "invalid checksum digest format",
		"a@sha512:" + hex[:64]:       "invalid checksum digest length",
		"a@":                         "invalid checksum digest format",
		"quay.io/Org/a":              "upper-case letters in its name",
		"Org/a":                      "upper-case letters in its name",
		"A":                          "upper-case letters in its name",
		"[::1]/a":                    "IPv6 address",
		"[::1]:5000/a":               "IPv6 address",
		"quay.io/":                   "invalid reference format",
		"quay.io//a":                 "invalid reference format",
		"https://quay.io/a":          "invalid reference format",
		"":                           "is missing or empty",
		"a:b c":                      "invalid reference format",
		"a:" + hex[:128]:             "",
		"a:x" + hex[:128]:            "invalid reference format",
		hex[:64]:                     "cannot specify 64-byte hexadecimal strings",
		"q.io/" + strings.Repeat("a/", 125) + "a":  "must not be more than 255 characters",
		"q.io/" + strings.Repeat("a/", 124) + "aa": "",
	} {
		err := Check(image)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", image, err, want)
		}
	}
}
