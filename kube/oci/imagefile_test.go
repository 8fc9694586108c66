package oci

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
)

// TestOpenArchive checks which archives are damaged: the next pull replaces them.
func TestOpenArchive(t *testing.T) {
	for about, want := range map[string]string{
		`{"files":[{"name":"a","number":0},{"name":"d/b","number":0}]}`: "", // b is a link
		`{"digest":"sha256:1"}`:                  "image.json names no files",
		`{"files":[{"name":"a","number":1}]}`:    `file 1, "a", is missing`,
		`{"files":[{"name":"a","number":-1}]}`:   `file -1, "a", is missing`,
		`{"files":[{"name":"../a","number":0}]}`: `file 0, "../a", is missing`,
		`{"files":`:                              "unexpected end of JSON input",
		"":                                       "image.json is missing",
	} {
		var text bytes.Buffer
		out := newImageWriter(&text)
		if _, _, err := out.add(strings.NewReader("content")); err != nil {
			t.Fatal(err)
		}
		if about != "" {
			if _, err := out.write(infoFile, strings.NewReader(about)); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.close(); err != nil {
			t.Fatal(err)
		}
		img, err := openArchive(bytes.NewReader(text.Bytes()), int64(text.Len()))
		if want != "" {
			if err == nil || err.Error() != want {
				t.Errorf("with %s: %v, want %s", about, err, want)
			}
			continue
		}
		for _, name := range []string{"a", "d/b"} {
			if got, err := fs.ReadFile(img.FS, name); string(got) != "content" || err != nil {
				t.Errorf("with %s, %s is %q (%v)", about, name, got, err)
			}
		}
	}
}
