package reconcile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every row of the OLM documentation that rules E1 to E11 refer to has cases, every case
// has a row, and every rule has rows.
func TestRows(t *testing.T) {
	text, err := os.ReadFile("testdata/rows.tsv")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	concerns, err := filepath.Glob("internal/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, file := range append(files, concerns...) {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(src), -1) {
			tests[m[1]] = true
		}
	}
	named, rules, rows := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 || strings.TrimSpace(f[3]) == "" {
			t.Errorf("%q: want rules, a section, a row and its cases", line)
			continue
		}
		if row := f[1] + " " + f[2]; rows[row] {
			t.Errorf("%s: twice", row)
		} else {
			rows[row] = true
		}
		for rule := range strings.FieldsSeq(f[0]) {
			rules[rule] = true
		}
		for name := range strings.FieldsSeq(f[3]) {
			named[name] = true
			if strings.HasPrefix(name, "Test") {
				if !tests[name] {
					t.Errorf("%s, %s: there is no test %s", f[1], f[2], name)
				}
			} else if _, err := os.Stat(filepath.Join("testdata", name+".txtar")); err != nil {
				t.Errorf("%s, %s: %v", f[1], f[2], err)
			}
		}
	}
	for n := 1; n <= 11; n++ {
		if rule := fmt.Sprintf("E%d", n); !rules[rule] {
			t.Errorf("no row is of rule %s", rule)
		}
	}
	cases, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range cases {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".txtar")
		if !named[name] {
			t.Errorf("%s belongs to no row of testdata/rows.tsv", name)
		}
	}
}
