//go:build unix

package graph_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/codes"
)

// TestHashSourceSpecial checks that named pipes and links to directories are
// refused without being opened, as by a load, unless they are ignored (A1,
// A16).
func TestHashSourceSpecial(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(dir, "a.json"), []byte(`{"schema":"x"}`), 0o666))
	must(os.Mkdir(filepath.Join(dir, "sub"), 0o777))
	must(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
	must(os.Symlink("sub", filepath.Join(dir, "link")))
	_, err := graph.HashSource(t.Context(), os.DirFS(dir))
	var ds fbc.Diagnostics
	if !errors.As(err, &ds) || len(ds) != 2 || ds[0].Code != codes.NotRegular || ds[1].Code != codes.NotRegular {
		t.Errorf("a named pipe and a link to a directory: %v", err)
	}
	_, loadErr := graph.Load(t.Context(), os.DirFS(dir), nil)
	var told fbc.Diagnostics
	if !errors.As(loadErr, &told) || len(told) != 2 || told[0].Error() != ds[0].Error() {
		t.Errorf("a load says %v", loadErr)
	}
	must(os.WriteFile(filepath.Join(dir, ".indexignore"), []byte("fifo\nlink\n"), 0o666))
	if _, err := graph.HashSource(t.Context(), os.DirFS(dir)); err != nil {
		t.Errorf("ignored: %v", err)
	}
}
