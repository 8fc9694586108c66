package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRules lints a document, comments and literals, with text that the rules must report and text that they must not.
func TestRules(t *testing.T) {
	cc, err := exec.Command("go", "env", "CC").Output()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath(strings.TrimSpace(string(cc))); err != nil {
		t.Skip("there is no C compiler on this machine, which vale needs")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("doc.md", `# Title

This is no edge. There is no edge, it is no longer one, and 4 is no larger than 5.

Mend it, and make it anew, beside the color of its own.

It tells what was asked for; page says which. A sentance.

Nothing is known of the bundles. It speaks of nothing that can be had, without end.

`+"```sh\nis no code\n```\n\nThe `is no code` of misspelledIdentifiers.\n")
	write("a.go", "// Package a is no kind of package.\npackage a\n\n"+`import _ "is no import"

type t struct {
	x int `+"`json:\"is no tag\"`"+` // whoever
}

var word, text = "told", "had together" +
	"\nput right in one line"
`+"\nvar many = `one line\nis no second`\n")
	write("a_test.go", "package a\n\nvar text = \"is no message\" // the tihng\n")
	found, err := lint(here, root, []string{"a.go", "a_test.go", "doc.md"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a.go:1:14 Negation", "a.go:1:17 Words", "a.go:7:30 Words", "a.go:10:0 Words", "a.go:11:0 Words", "a.go:14:0 Negation",
		"a_test.go:3:35 Spelling",
		"doc.md:3:6 Negation", "doc.md:5:1 Words", "doc.md:5:22 Words", "doc.md:5:28 Words", "doc.md:5:45 Words",
		"doc.md:7:4 Programs", "doc.md:7:10 Words", "doc.md:7:35 Programs", "doc.md:7:49 Spelling",
		"doc.md:9:1 Words", "doc.md:9:37 Words", "doc.md:9:60 Words", "doc.md:9:72 Words",
	}
	var got []string
	for _, a := range found {
		got = append(got, fmt.Sprintf("%s:%d:%d %s", a.file, a.line, a.column, strings.TrimPrefix(a.check, "Olmkit.")))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
