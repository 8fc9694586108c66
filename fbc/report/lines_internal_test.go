package report

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzSameLines compares the lines of fields in YAML with those of the full parser.
func FuzzSameLines(f *testing.F) {
	files, err := filepath.Glob("../testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, text := range []string{
		"schema: a\nentries:\n- name: x\n  skips: [a,\n   b]\n-\n  name: y\n- - 1\n  - 2\n",
		"a: &x {b: 1}\nc: *x\n", "a: 1\na: 2\n", "a:\n\n  # b\n  b: |\n   x\n\n  c: 1\n", "? a\n: b\n",
		"properties:\n- type: olm.csv.metadata\n  value:\n    a:\n      b: 1\n- type: x\n  value: {a: 1}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		l := locator{ctx: t.Context(), text: []byte(text), line: 1}
		tree := map[string]int{}
		yamlLines(t.Context(), l.document(), 1, tree)
		for path, want := range tree {
			if got := l.yaml(path); got != want {
				t.Errorf("%s of %q is on line %d, not %d", path, text, got, want)
			}
		}
	})
}
