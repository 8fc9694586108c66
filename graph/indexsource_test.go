package graph_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
)

func TestHashSource(t *testing.T) {
	hash := func(fsys fstest.MapFS) string {
		h, err := graph.HashSource(context.Background(), fsys)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	one := fstest.MapFS{"a/catalog.yaml": {Data: []byte("x")}, "b": {Data: []byte("y")}}
	if hash(one) != hash(fstest.MapFS{"b": {Data: []byte("y")}, "a/catalog.yaml": {Data: []byte("x")}}) {
		t.Error("equal trees have different hashes")
	}
	for _, other := range []fstest.MapFS{
		{"a/catalog.yaml": {Data: []byte("x")}, "b": {Data: []byte("z")}},
		{"a/catalog.yaml": {Data: []byte("x")}, "c": {Data: []byte("y")}},
		{"a/catalog.yaml": {Data: []byte("x")}},
	} {
		if hash(one) == hash(other) {
			t.Errorf("%v has the hash of another tree", other)
		}
	}
}

// TestHashSourceIgnores checks that the hash depends on the files that a load reads, and
// not on ignored files (A2).
func TestHashSourceIgnores(t *testing.T) {
	tree := fstest.MapFS{
		"a.yaml":         {Data: []byte("x")},
		".indexignore":   {Data: []byte(".git/\n*.md\n/link\n")},
		".git/HEAD":      {Data: []byte("1")},
		"sub/README.md":  {Data: []byte("1")},
		"sub/z.yaml":     {Data: []byte("1")},
		"link":           {Mode: fs.ModeSymlink, Data: []byte("sub")},
		"sub.d/b.yaml":   {Data: []byte("1")},
		"empty/keep.txt": {Data: nil},
	}
	hash := func() string {
		t.Helper()
		h, err := graph.HashSource(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before := hash()
	for _, name := range []string{".git/HEAD", "sub/README.md", "a.yaml", ".indexignore", "sub/z.yaml", "sub.d/b.yaml"} {
		old := tree[name].Data
		tree[name].Data = append(old[:len(old):len(old)], "\n# 2"...)
		want := name != ".git/HEAD" && name != "sub/README.md"
		if got := hash() != before; got != want {
			t.Errorf("a change of %s changes the hash: %v, want %v", name, got, want)
		}
		tree[name].Data = old
	}
	tree[".git/index"] = &fstest.MapFile{Data: []byte("1")}
	if hash() != before {
		t.Error("a new file that is ignored changes the hash")
	}
	tree["new"] = &fstest.MapFile{}
	if hash() == before {
		t.Error("a new file does not change the hash")
	}
}

// endless has one endless file, and cancels a context while it is read.
type endless struct {
	fstest.MapFS
	cancel context.CancelCauseFunc
	reads  int
}

type endlessFile struct {
	fs.File
	fsys *endless
}

func (e *endless) Open(name string) (fs.File, error) {
	f, err := e.MapFS.Open(name)
	if name == "." || err != nil {
		return f, err
	}
	return &endlessFile{f, e}, nil
}

func (f *endlessFile) Read(p []byte) (int, error) {
	if f.fsys.reads++; f.fsys.reads == 3 {
		f.fsys.cancel(errEnough)
	}
	if f.fsys.reads > 100 {
		return 0, io.ErrUnexpectedEOF
	}
	return len(p), nil
}

var errEnough = errors.New("enough")

// TestHashSourceContext stops within a file (D18).
func TestHashSourceContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := graph.HashSource(ctx, &endless{MapFS: fstest.MapFS{"a": {Data: []byte("x")}}, cancel: cancel})
	if !errors.Is(err, errEnough) {
		t.Errorf("got %v, want the context's cause", err)
	}
}
