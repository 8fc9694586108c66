package operatorgroup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every row of the documents' tables and rules has its golden cases, and every
// golden case its row (F1 to F10).
func TestRows(t *testing.T) {
	text, err := os.ReadFile("testdata/rows.tsv")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 || strings.TrimSpace(f[2]) == "" {
			t.Errorf("%q: want a section, a row and its cases", line)
			continue
		}
		for name := range strings.FieldsSeq(f[2]) {
			named[name] = true
			if _, err := os.Stat(filepath.Join("testdata", name+".txtar")); err != nil {
				t.Errorf("%s, %s: %v", f[0], f[1], err)
			}
		}
	}
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(file, "testdata"+string(filepath.Separator))), ".txtar")
		if !named[name] {
			t.Errorf("%s belongs to no row of testdata/rows.tsv", name)
		}
	}
}
