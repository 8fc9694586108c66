package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/regular"
)

const (
	older = `{"schema":"olm.package","name":"%s","defaultChannel":"old"}`
	newer = `{"schema":"olm.package","name":"%s","defaultChannel":"new"}`
)

// names returns the files of a catalog: two that oldCatalog writes, and a new one.
func names(dir string) []string {
	return []string{filepath.Join(dir, "a", "catalog.json"), filepath.Join(dir, "b", "catalog.json"), filepath.Join(dir, "c", "catalog.json")}
}

func text(t testing.TB, form, name string) string {
	t.Helper()
	return fmt.Sprintf(form, filepath.Base(filepath.Dir(name)))
}

// oldCatalog writes the first two files of names to a new directory, and returns the directory.
func oldCatalog(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names(dir)[:2] {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text(t, older, name)), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// update writes all files.
func update(b *Batch, dir string, each func(i int, w io.Writer) error) error {
	defer b.Discard()
	root, err := b.Dir(dir)
	if err != nil {
		return err
	}
	for i, name := range names(".") {
		if err := b.Add(root, name, 0o666, func(w io.Writer) error { return each(i, w) }); err != nil {
			return err
		}
	}
	return b.Commit()
}

func whole(t testing.TB, dir string) func(int, io.Writer) error {
	return func(i int, w io.Writer) error {
		_, err := io.WriteString(w, text(t, newer, names(dir)[i]))
		return err
	}
}

// listing returns everything below a directory, with the content of files.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			out[name] = ""
			return err
		}
		if d.Type()&fs.ModeSymlink != 0 {
			out[name], err = os.Readlink(name)
			return err
		}
		text, err := os.ReadFile(name)
		out[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBatch replaces files, adds one, and leaves no other files behind (S6).
func TestBatch(t *testing.T) {
	dir := oldCatalog(t)
	if err := update(new(Batch), dir, whole(t, dir)); err != nil {
		t.Fatal(err)
	}
	got := listing(t, dir)
	for _, name := range names(dir) {
		if got[name] != text(t, newer, name) {
			t.Errorf("%s holds %q", name, got[name])
		}
	}
	if len(got) != 7 {
		t.Errorf("got %v, want three files in their directories", got)
	}
}

// TestBatchFails makes each file fail while it is written and while it is moved: nothing is changed (S6).
func TestBatchFails(t *testing.T) {
	check := func(what string, i int, dir string, before map[string]string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s file %d: want an error", what, i)
		}
		if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
			t.Errorf("%s file %d changed the directory (-before +after):\n%s", what, i, diff)
		}
	}
	for i := range 3 {
		dir := oldCatalog(t)
		before := listing(t, dir)
		err := update(new(Batch), dir, func(k int, w io.Writer) error {
			io.WriteString(w, strings.Repeat("{", 100_000))
			if k == i {
				return errors.New("no space left on device")
			}
			return nil
		})
		check("writing", i, dir, before, err)

		b := &Batch{}
		steps := 0
		b.step = func() error {
			if len(b.staged) < 3 {
				return nil
			}
			if steps++; steps == 2 { // the last file is written, but none is moved
				if err := os.Remove(filepath.Join(dir, b.staged[i].temp)); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		dir = oldCatalog(t)
		before = listing(t, dir)
		check("moving", i, dir, before, update(b, dir, whole(t, dir)))
	}
}

// TestBatchKilled kills a process before each change that it makes. Each file has its old or its new content, and a
// load reads these files and no others (S6).
func TestBatchKilled(t *testing.T) {
	const env = "OLMKIT_TEST_KILL"
	if at := os.Getenv(env); at != "" {
		step, dir, _ := strings.Cut(at, " ")
		left, err := strconv.Atoi(step)
		if err != nil {
			t.Fatal(err)
		}
		b := &Batch{step: func() error {
			if left--; left < 0 {
				self, err := os.FindProcess(os.Getpid())
				if err == nil {
					err = self.Kill()
				}
				t.Error(err)
				select {}
			}
			return nil
		}}
		if err := update(b, dir, whole(t, dir)); err != nil {
			t.Fatal(err)
		}
		return
	}
	leftovers := 0
	for step := range 100 {
		dir := oldCatalog(t)
		cmd := exec.Command(os.Args[0], "-test.run=^TestBatchKilled$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", env, step, dir))
		out, err := cmd.CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if err != nil && strings.Contains(string(out), "FAIL") {
			t.Fatalf("step %d: %s", step, out)
		}
		files := 0
		for name, content := range listing(t, dir) {
			switch {
			case regular.IsTemporary(filepath.Base(name)):
				leftovers++
			case filepath.Ext(name) == ".json":
				files++
				if content != text(t, older, name) && content != text(t, newer, name) {
					t.Errorf("step %d: %s holds %q", step, name, content)
				}
			}
		}
		c, lerr := fbc.Load(t.Context(), os.DirFS(dir), nil)
		if lerr != nil {
			t.Fatalf("step %d: %v", step, lerr)
		}
		if len(c.Packages) != files {
			t.Errorf("step %d: a load reads %d packages of %d files", step, len(c.Packages), files)
		}
		if err == nil {
			if files != 3 || leftovers == 0 || step < 10 {
				t.Errorf("%d files, %d leftovers of %d steps", files, leftovers, step)
			}
			return
		}
	}
	t.Error("the batch never completes")
}

// TestReplaceModes checks that new files have the permissions left by the umask, and others keep theirs (S6).
func TestReplaceModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system has no umask")
	}
	dir := t.TempDir()
	ref, err := os.OpenFile(filepath.Join(dir, "ref"), os.O_CREATE, 0o666) // prints the umask
	if err != nil {
		t.Fatal(err)
	}
	defer ref.Close()
	want, err := ref.Stat()
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(io.Writer) error { return nil }
	check := func(name string, want fs.FileMode) {
		t.Helper()
		if err := Replace(name, 0o666, nothing); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s has the mode %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	check(filepath.Join(dir, "new"), want.Mode())
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o666, 0o755} {
		name := filepath.Join(dir, mode.String())
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chmod(name, mode)); err != nil {
			t.Fatal(err)
		}
		check(name, mode)
	}
}

// TestReplaceWhat checks the errors for destinations that cannot be replaced.
func TestReplaceWhat(t *testing.T) {
	dir := t.TempDir()
	nothing := func(io.Writer) error { return nil }
	if err := Replace(dir, 0o666, nothing); !errors.As(err, new(*NotFileError)) {
		t.Errorf("a directory gives the error %v", err)
	}
	if err := os.Symlink("nothing", filepath.Join(dir, "dangling")); err != nil {
		t.Skip(err)
	}
	if err := Replace(filepath.Join(dir, "dangling"), 0o666, nothing); !errors.As(err, new(*NotFileError)) {
		t.Errorf("a link to nothing gives the error %v", err)
	}
	if err := Replace(filepath.Join(dir, "none", "file"), 0o666, nothing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory that does not exist gives the error %v", err)
	}
	if got := listing(t, dir); len(got) != 2 {
		t.Errorf("something was written: %v", got)
	}
}

// TestBatchInside checks that links may lead to other files below a directory but not out of it, whether or not their
// targets exist (S4, S6).
func TestBatchInside(t *testing.T) {
	for _, tt := range []struct {
		link, to string
		name     string
		want     string // part of the error
	}{
		{"link", "file", "link", ""},
		{"d", "dir", "d/file", ""},
		{"d", "dir", "d/new", ""},
		{"d", "dir", "d/new/new", ""},
		{"link", "../out/file", "link", "leads out of"},
		{"link", "OUT/file", "link", "leads out of"},
		{"link", "../out/none", "link", "is a symbolic link, not a regular file"},
		{"d", "../out", "d/file", "leads out of"},
		{"d", "../out", "d/new", "leads out of"},
		{"d", "OUT", "d/new/new", "leads out of"},
		{"d", "../none", "d/new", "leads out of"},
		{"d", "none", "d/new", "is a symbolic link to a directory that does not exist"},
		{"d", "file", "d/new", "is a regular file, not a directory"},
		{"link", "link", "link", "too many links"},
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
		for _, name := range []string{filepath.Join(in, "file"), filepath.Join(in, "dir", "file"), filepath.Join(out, "file")} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, []byte("old"), 0o666)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(strings.Replace(tt.to, "OUT", out, 1), filepath.Join(in, tt.link)); err != nil {
			t.Skip(err)
		}
		before := listing(t, dir)
		var b Batch
		root, err := b.Dir(in)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Add(root, filepath.FromSlash(tt.name), 0o666, func(w io.Writer) error {
			_, err := io.WriteString(w, "new")
			return err
		})
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s -> %s: writing %s gives the error %v, want %q", tt.link, tt.to, tt.name, err, tt.want)
			}
			b.Discard()
			if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
				t.Errorf("%s -> %s: writing %s changes (-before +after):\n%s", tt.link, tt.to, tt.name, diff)
			}
			continue
		}
		if err == nil {
			err = b.Commit()
		}
		if text, rerr := os.ReadFile(filepath.Join(in, filepath.FromSlash(tt.name))); err != nil || string(text) != "new" {
			t.Errorf("%s -> %s: writing %s gives %q, %v, %v", tt.link, tt.to, tt.name, text, err, rerr)
		}
		if info, err := os.Lstat(filepath.Join(in, tt.link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s -> %s: the link is replaced: %v", tt.link, tt.to, err)
		}
	}
}
