package bundledir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/regular"
)

// read returns what a reader finds in a directory, a line for each document or error.
func read(ctx context.Context, fsys fs.FS, limits Limits) (out []string, last error) {
	r := New(fsys, limits)
	fail := func(at fbc.Pos, err error) { out, last = append(out, fmt.Sprintf("%s: %v", at, err)), err }
	entries, err := r.List("d")
	if err != nil {
		fail(fbc.Pos{File: "d"}, err)
	}
	for _, e := range entries {
		at := fbc.Pos{File: "d/" + e.Name()}
		text, err := r.Read(at.File, e)
		if err != nil {
			fail(at, err)
			continue
		}
		for doc, err := range Documents(text) {
			at.Line = doc.Line
			var value []byte
			if err == nil {
				value, at.Line, err = r.JSON(ctx, doc)
			}
			if err != nil {
				fail(at, err)
				continue
			}
			out = append(out, fmt.Sprintf("%s: %s", at, value))
		}
	}
	return out, last
}

// TestLines checks the lines of documents and errors (K2).
func TestLines(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                          nil,
		"# only\n---\n\n--- # x":                    nil,
		"\n# a\n\na: 1\n---\n# b\n\nb: 2\n":         {`d/f:4: {"a":1}`, `d/f:8: {"b":2}`},
		"null\n---\na: 1":                           {"d/f:1: ", `d/f:3: {"a":1}`},
		"a: 1\n---\n\n# x\nb:\n- [\n---\nc: 3\n":    {`d/f:1: {"a":1}`, "d/f:6: invalid YAML: did not find expected node content", `d/f:8: {"c":3}`},
		"a: 1\n--- b\nc: 3\n":                       {`d/f:2: invalid document separator: "--- b"; put it on a line without other text`},
		"{\"a\":1}\n\n {\"b\":2}\n{":                {`d/f:1: {"a":1}`, `d/f:3: {"b":2}`, "d/f:3: unexpected EOF"},
		"{a: 1}\n---\n{b: 2}\n":                     {`d/f:1: {"a":1}`, `d/f:3: {"b":2}`},
		"\xff\xfea":                                 {"d/f:1: the text is UTF-16; it must be UTF-8"},
		"a: 1\n---\nb: \xe9\n":                      {`d/f:1: {"a":1}`, "d/f:3: the document must be UTF-8, but byte 0xe9 at its offset 3 is not"},
		"%TAG !e! tag:x\n---\na: 1":                 {"d/f:1: invalid YAML: %TAG directives are not supported; write the tags in full, and drop the directive", `d/f:3: {"a":1}`},
		"a: 1\n...\nb: 2\n":                         {"d/f:1: invalid YAML: more text follows the end of the document"},
		"a: &a {b: " + strings.Repeat("x", 9) + "}": {`d/f:1: {"a":{"b":"xxxxxxxxx"}}`},
	} {
		got, _ := read(t.Context(), fstest.MapFS{"d/f": {Data: []byte(text)}}, Limits{})
		if len(want) == 0 {
			got = append(got, "") // of an empty directory: nothing
			want = []string{""}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", text, d)
		}
	}
}

// lying is a file system whose files are longer than it states.
type lying struct{ fs.FS }

func (l lying) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(l.FS, name)
	for i, e := range entries {
		entries[i] = empty{e}
	}
	return entries, err
}

type empty struct{ fs.DirEntry }

func (e empty) Info() (fs.FileInfo, error) {
	info, err := e.DirEntry.Info()
	return emptyInfo{info}, err
}

type emptyInfo struct{ fs.FileInfo }

func (emptyInfo) Size() int64 { return 0 }

// TestLimits checks that reaching each limit exactly is allowed, and that exceeding it by one
// is an error that names the limit (A16).
func TestLimits(t *testing.T) {
	files := fstest.MapFS{"d/a": {Data: []byte("a: 12345\n")}, "d/b": {Data: []byte("b: &b text\nc: *b\n")}}
	for _, c := range []struct {
		name string
		tree fs.FS
		fits Limits
		less Limits
	}{
		{"Files", files, Limits{Files: 2}, Limits{Files: 1}},
		{"FileSize", files, Limits{FileSize: 17}, Limits{FileSize: 16}},
		{"FileSize", lying{files}, Limits{FileSize: 17}, Limits{FileSize: 16}},
		{"BundleSize", files, Limits{BundleSize: 26}, Limits{BundleSize: 25}},
		{"BundleSize", lying{files}, Limits{BundleSize: 26}, Limits{BundleSize: 25}},
		{"DocumentSize", files, Limits{DocumentSize: 23}, Limits{DocumentSize: 22}},
		{"Expansion", files, Limits{Expansion: 8}, Limits{Expansion: 7}},
	} {
		if _, err := read(t.Context(), c.tree, c.fits); err != nil {
			t.Errorf("%s: at the limit: %v", c.name, err)
		}
		_, err := read(t.Context(), c.tree, c.less)
		if limit := new(fbc.LimitError); !errors.As(err, &limit) || limit.Limit != c.name {
			t.Errorf("%s: beyond the limit: %v", c.name, err)
		}
	}
}

// TestUnreadable checks the errors about files and directories.
func TestUnreadable(t *testing.T) {
	out, err := read(t.Context(), fstest.MapFS{"d/pipe": {Mode: fs.ModeNamedPipe}}, Limits{})
	if want := "d/pipe: is a named pipe, not a regular file; move it out of the bundle if it does not belong to it"; !errors.As(err, new(*regular.Error)) || out[0] != want {
		t.Errorf("got %q, want %q", out, want)
	}
	if out, err = read(t.Context(), fstest.MapFS{}, Limits{}); !errors.Is(err, fs.ErrNotExist) || out[0] != "d: file does not exist" {
		t.Errorf("no directory: %q", out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, fstest.MapFS{"d/f": {Data: []byte("a: &a b\nc: *a")}}, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
