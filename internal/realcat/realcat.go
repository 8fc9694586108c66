// Package realcat opens the real catalogs that tests and benchmarks use when
// they are next to a checkout, in ../shared/catalogs. They are not part of the
// project: tests skip without them.
package realcat

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
)

// Names are the names of the catalogs.
var Names = []string{"community", "community-full", "community-invalid", "openshift-v4.16", "openshift-v4.19"}

// Shared returns the path of a file next to the checkout, or skips the test.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		// The root of the repository, where go.mod marks nested modules too.
		if _, err := os.Stat(filepath.Join(dir, "internal", "realcat")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("the test must run inside a checkout of the repository")
		}
		dir = up
	}
	path := filepath.Join(append([]string{dir, "..", "shared"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("../shared/%s does not exist: it is not part of the project", filepath.Join(elem...))
	}
	return path
}

// FS returns the tree of a catalog, or skips the test.
func FS(t testing.TB, name string) fs.FS {
	t.Helper()
	f, err := os.Open(Shared(t, "catalogs", name+".tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return fsys
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		fsys[strings.TrimPrefix(h.Name, name+"/")] = &fstest.MapFile{Data: data}
	}
}

var (
	mu     sync.Mutex
	graphs = map[string]*graph.Catalog{}
)

// Graph returns the index of a catalog, built once for all tests of a process,
// or skips the test.
func Graph(t testing.TB, name string) *graph.Catalog {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if c := graphs[name]; c != nil {
		return c
	}
	c, err := graph.Load(context.Background(), FS(t, name), nil)
	if err != nil {
		t.Fatal(err)
	}
	graphs[name] = c
	return c
}
