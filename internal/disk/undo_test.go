package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBatchUndoFails fails a single change, or all changes from one on. Either everything is as before, or the error
// lists each file that is not, with the file that holds its old text (S6).
func TestBatchUndoFails(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		lost := map[int]bool{}
		for at := range 100 {
			dir := oldCatalog(t)
			before := listing(t, dir)
			steps := 0
			b := &Batch{step: func() error {
				steps++
				if steps-1 == at || lasting && steps > at {
					return errors.New("injected")
				}
				return nil
			}}
			err := update(b, dir, whole(t, dir))
			if steps <= at {
				if err != nil {
					t.Errorf("no failure: %v", err)
				}
				break
			}
			after := listing(t, dir)
			if err == nil {
				if diff := cmp.Diff(text(t, newer, names(dir)[0]), after[names(dir)[0]]); diff != "" {
					t.Errorf("step %d: the files are not written: %s", at, diff)
				}
				continue // only a backup could not be removed
			}
			var undo *UndoError
			if errors.As(err, &undo) {
				lost[len(undo.Files)] = true
				for _, f := range undo.Files {
					switch was := before[f.Name]; {
					case !strings.Contains(err.Error(), f.Name):
						t.Errorf("step %d: %s is not in the error %v", at, f.Name, err)
					case f.New && after[f.Name] != text(t, newer, f.Name):
						t.Errorf("step %d: %s holds %q", at, f.Name, after[f.Name])
					case f.Backup == "" && was != "":
						t.Errorf("step %d: there is no backup of %s", at, f.Name)
					case f.Backup != "" && (after[f.Backup] != was || !strings.Contains(err.Error(), f.Backup)):
						t.Errorf("step %d: backup %s holds %q: %v", at, f.Backup, after[f.Backup], err)
					}
					if f.Backup != "" { // what the error recommends
						if err := os.Rename(f.Backup, f.Name); err != nil {
							t.Error(err)
						}
					} else if err := os.RemoveAll(filepath.Dir(f.Name)); err != nil { // new, like its directory
						t.Error(err)
					}
				}
				after = listing(t, dir)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("step %d (lasting: %t): %v\n(-before +after):\n%s", at, lasting, err, diff)
			}
		}
		if want := map[bool]map[int]bool{false: {}, true: {1: true, 2: true, 3: true}}[lasting]; !cmp.Equal(want, lost) {
			t.Errorf("lasting: %t: the numbers of files left are %v, want %v", lasting, lost, want)
		}
	}
}

// TestBatchUndoWithoutLinks checks that a backup made by renaming is kept if the file cannot be restored (S6).
func TestBatchUndoWithoutLinks(t *testing.T) {
	dir := oldCatalog(t)
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join("a", temporary("x"))
	name := filepath.Join("a", "catalog.json")
	if err := root.dir.Rename(name, backup); err != nil {
		t.Fatal(err)
	}
	b := Batch{
		staged: []*staged{{root: root, name: name, temp: filepath.Join("a", "none"), backup: backup}},
		roots:  []*Root{root},
		step:   func() error { return errors.New("no permission") },
	}
	got := b.discard(errors.New("failed"))
	want := fmt.Sprintf("failed; these files could not be restored; restore them by hand:\n  %s is missing; its text is in %s (no permission)",
		filepath.Join(dir, name), filepath.Join(dir, backup))
	if got == nil || got.Error() != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if content := listing(t, dir)[filepath.Join(dir, backup)]; content != text(t, older, filepath.Join(dir, name)) {
		t.Errorf("the backup holds %q", content)
	}
}
