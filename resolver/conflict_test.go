package resolver_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// readCase reads problem.json of a txtar file, with catalogs from its folders.
func readCase(t testing.TB, a *txtar.Archive) resolver.Problem {
	t.Helper()
	for p, err := range document.Read[resolver.Problem](strings.NewReader(file(t, a, "problem.json"))) {
		if err != nil {
			t.Fatal(err)
		}
		err := p.Open(context.Background(), func(ctx context.Context, dir string) (*graph.Catalog, error) {
			fsys := fstest.MapFS{}
			for _, f := range a.Files {
				if name, ok := strings.CutPrefix(f.Name, dir+"/"); ok {
					fsys[name] = &fstest.MapFile{Data: f.Data}
				}
			}
			return graph.Load(ctx, fsys, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Fatal("no problem.json")
	return resolver.Problem{}
}

func file(t testing.TB, a *txtar.Archive, name string) string {
	i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("the archive has no %s", name)
	}
	return string(a.Files[i].Data)
}

// section compares a file of an archive with the wanted text, or rewrites it.
func section(t *testing.T, path string, a *txtar.Archive, name, got string) {
	t.Helper()
	if got == file(t, a, name) {
		return
	}
	if !golden.Update() {
		t.Errorf("%s (-want +got; -update rewrites it):\n%s", name, cmp.Diff(file(t, a, name), got))
		return
	}
	for i := range a.Files {
		if a.Files[i].Name == name {
			a.Files[i].Data = []byte(got)
		}
	}
	if err := os.WriteFile(path, txtar.Format(a), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestConflictTexts compares the whole explanation of each situation (D16).
func TestConflictTexts(t *testing.T) {
	paths, err := filepath.Glob("testdata/conflicts/*.txtar")
	if err != nil || len(paths) < 30 {
		t.Fatalf("%d situations, %v: want 30 or more", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			_, err = resolver.Resolve(context.Background(), readCase(t, a))
			var no *resolver.Conflict
			if !errors.As(err, &no) {
				t.Fatalf("got %v, want a conflict", err)
			}
			text, err := no.Text(context.Background(), 100, nil)
			if err != nil {
				t.Fatal(err)
			}
			section(t, path, a, "want", text)
		})
	}
}
