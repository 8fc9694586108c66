//go:build unix

package fbc

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"
)

// TestSpecialFiles checks that files that are not regular, and links out of the
// tree, are refused without being opened (A1, A16).
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.json")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(outside, []byte(pkgA), 0o666))
	must(os.WriteFile(filepath.Join(dir, "a.json"), []byte(pkgA), 0o666))
	must(os.Mkdir(filepath.Join(dir, "sub"), 0o777))
	must(os.WriteFile(filepath.Join(dir, "sub/real.json"), []byte(channel), 0o666))
	must(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666))
	must(syscall.Mkfifo(filepath.Join(dir, "sub", ignoreFile), 0o666))
	rel, err := filepath.Rel(dir, outside)
	must(err)
	for name, target := range map[string]string{
		"link-inside":         "sub/real.json",
		"link-to-dir":         "sub",
		"link-absolute":       outside,
		"link-relative":       rel,
		"link-through-dirs":   "sub/../../" + filepath.Base(dir) + "/a.json",
		"link-of-link":        "link-absolute",
		"link-circle":         "link-circle",
		"link-nowhere":        "missing",
		"link-fifo":           "fifo",
		"sub/link-up":         "../a.json",
		"sub/device":          "/dev/zero",
		"link-through-a-link": "link-to-dir/../../x",
	} {
		must(os.Symlink(target, filepath.Join(dir, name)))
	}
	g := golden.Archive{File: "special.txtar"}
	tell := func(name string, c *Catalog, err error) {
		g.Add(name, strings.ReplaceAll(strings.ReplaceAll(describe(c, err), rel, "<outside>"), outside, "<outside>"))
	}
	c, err := Load(t.Context(), os.DirFS(dir), nil)
	tell("os.DirFS", c, err)
	root, err := os.OpenRoot(dir)
	must(err)
	defer root.Close()
	c, err = Load(t.Context(), root.FS(), nil)
	tell("os.Root", c, err)
	_, err = Load(t.Context(), noLinks{os.DirFS(dir).(fs.StatFS)}, nil)
	if err == nil || !strings.Contains(err.Error(), "a named pipe") {
		t.Errorf("without ReadLink: %v", err)
	}

	must(os.WriteFile(filepath.Join(dir, ignoreFile), []byte("/link-*\n/sub/device\nfifo\n/sub/.indexignore\n"), 0o666))
	must(os.Remove(filepath.Join(dir, "sub", ignoreFile)))
	must(os.Remove(filepath.Join(dir, "sub/link-up")))
	c, err = Load(t.Context(), os.DirFS(dir), nil)
	tell("ignored", c, err)
	c, err = Load(t.Context(), os.DirFS(filepath.Join(dir, "a.json")), nil)
	tell("file-for-directory", c, err)
	c, err = Load(t.Context(), os.DirFS(filepath.Join(dir, "missing")), nil)
	tell("missing", c, err)
	g.Check(t)
}

// noLinks hides that a file system can read links.
type noLinks struct{ fs.StatFS }
