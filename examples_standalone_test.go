package repo_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// TestExamplesStandAlone checks that each example in the documentation of a public package is a complete program that
// readers can copy and run: it uses no declarations of other test files, and no files.
func TestExamplesStandAlone(t *testing.T) {
	found := 0
	for _, p := range append(load(t, "."), load(t, "kube")...) {
		if isInternal(module + "/" + p.dir) {
			continue
		}
		names, err := filepath.Glob(filepath.Join(p.dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		for _, x := range doc.Examples(files...) {
			found++
			if x.Play == nil {
				t.Errorf("%s: Example%s uses declarations of other files; move them into its file", p.dir, x.Name)
				continue
			}
			for _, imp := range x.Play.Imports {
				if imp.Path.Value == `"embed"` {
					t.Errorf("%s: Example%s embeds a file; make it a constant", p.dir, x.Name)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d examples found", found)
	}
}
