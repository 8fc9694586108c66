package fbc

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// baseCatalog is what the examples of explanations belong to.
//
//go:embed testdata/etcd.yaml
var baseCatalog string

// TestExplanations finds each code in its bad example, and nothing at all in
// the fixed one (G10).
func TestExplanations(t *testing.T) {
	for _, e := range Explanations() {
		if e.Title == "" || e.Text == "" || e.Rules == "" || (e.Bad == "") != (e.Good == "") {
			t.Errorf("%s is not explained in full", e.Code)
		}
		if e.Bad == "" {
			continue
		}
		if found := example(t, e.Bad); !slices.ContainsFunc(found, func(d *Diagnostic) bool { return d.Code == e.Code && d.Severity == e.Severity }) {
			t.Errorf("%s: the example shows only %v", e.Code, found)
		}
		if found := example(t, e.Good); len(found) > 0 {
			t.Errorf("%s: the fixed example has\n%v", e.Code, found)
		}
	}
}

// example validates the base catalog with the documents of text in place of its
// own.
func example(t *testing.T, text string) Diagnostics {
	t.Helper()
	all := []string{text}
	head := func(doc string) string {
		var out []string
		for line := range strings.Lines(doc) {
			if strings.HasPrefix(line, "schema:") || strings.HasPrefix(line, "package:") || strings.HasPrefix(line, "name:") {
				out = append(out, line)
			}
		}
		return strings.Join(out, "")
	}
	var ours []string
	for doc := range strings.SplitSeq(text, "---\n") {
		ours = append(ours, head(strings.ReplaceAll(strings.ReplaceAll(doc, "- schema", "schema"), "  name", "name")), head(doc))
	}
	for doc := range strings.SplitSeq(baseCatalog, "---\n") {
		if !slices.Contains(ours, head(doc)) {
			all = append(all, doc)
		}
	}
	_, found, err := CheckBytes(t.Context(), []byte(strings.Join(all, "---\n")), "catalog.yaml", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEveryCodeExplained reads the constants of code.go.
func TestEveryCodeExplained(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var want []Code
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok {
				s, _ := strconv.Unquote(lit.Value)
				want = append(want, Code(s))
			}
		}
		return true
	})
	var got []Code
	for _, e := range Explanations() {
		got = append(got, e.Code)
		if again, ok := Explain(e.Code); !ok || again.Title != e.Title {
			t.Errorf("Explain(%s) = %v, %v", e.Code, again, ok)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes and explanations, in order (-code +explanation):\n%s", diff)
	}
	if _, ok := Explain("nonsense"); ok {
		t.Error("nonsense is explained")
	}
}

// TestCodePages keeps docs/codes true to the explanations.
func TestCodePages(t *testing.T) {
	dir := filepath.Join("..", "docs", "codes")
	index := "# Findings\n\nEach finding of `olmkit validate` has a code. `olmkit explain CODE` shows these pages too.\nThey are written by `go test ./fbc -run TestCodePages -update`.\n"
	pages := map[string]string{}
	for _, s := range []Severity{Error, Warning} {
		index += "\n## " + strings.ToUpper(s.String()[:1]) + s.String()[1:] + "s\n\n"
		for _, e := range Explanations() {
			if e.Severity == s {
				index += "- [`" + string(e.Code) + "`](" + string(e.Code) + ".md): " + e.Title + "\n"
				pages[string(e.Code)+".md"] = e.Markdown()
			}
		}
	}
	pages["README.md"] = index
	if *update {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if got, err := os.ReadFile(filepath.Join(dir, f.Name())); err != nil || string(got) != pages[f.Name()] {
			t.Errorf("docs/codes/%s is out of date (go test -update writes it): %v", f.Name(), err)
		}
		delete(pages, f.Name())
	}
	for name := range pages {
		t.Errorf("docs/codes/%s is missing", name)
	}
}
