// Package golden compares the results of tests with files of testdata.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Update reports whether the test must rewrite its golden files.
func Update() bool { return *update }

// File compares the result of a test with a file of testdata, or writes that file if
// [Update] is set.
func File(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		if err == nil {
			err = os.WriteFile(path, []byte(got), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; go test -update accepts it):\n%s", path, diff)
	}
}

// An Archive collects the results of named cases and compares them with a txtar archive
// in testdata, which has a section for each case.
type Archive struct {
	File string
	got  []txtar.File
}

// Add adds the result of a case.
func (a *Archive) Add(name, text string) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	a.got = append(a.got, txtar.File{Name: name, Data: []byte(text)})
}

// Check compares the results with the file, or writes the file if [Update] is set.
func (a *Archive) Check(t *testing.T) {
	t.Helper()
	path := filepath.Join("testdata", a.File)
	if *update {
		if err := os.WriteFile(path, txtar.Format(&txtar.Archive{Files: a.got}), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	for _, got := range a.got {
		i := slices.IndexFunc(want.Files, func(f txtar.File) bool { return f.Name == got.Name })
		if i < 0 {
			t.Errorf("%s: %s is not in the golden file:\n%s", path, got.Name, got.Data)
		} else if !bytes.Equal(want.Files[i].Data, got.Data) {
			t.Errorf("%s: %s (-want +got):\n%s", path, got.Name, cmp.Diff(string(want.Files[i].Data), string(got.Data)))
		}
	}
	if len(want.Files) != len(a.got) {
		t.Errorf("%s has %d cases, but the test has %d", path, len(want.Files), len(a.got))
	}
}
