package fbc

import (
	_ "embed"
	"fmt"
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

	"github.com/olmkit/olmkit/internal/golden"
)

// baseCatalog is the catalog that the examples of explanations modify.
//
//go:embed testdata/etcd.yaml
var baseCatalog string

// TestExplanations checks that validating the bad example of each code reports that code,
// and that the fixed example has no findings (G10). Packages kube/bundlelint and
// kube/permissions check the examples of other codes.
func TestExplanations(t *testing.T) {
	for _, e := range Explanations() {
		if e.Title == "" || e.Text == "" || e.Rules == "" || (e.Bad == "") != (e.Good == "") {
			t.Errorf("%s is not fully explained", e.Code)
		}
		if e.Bad == "" || strings.HasPrefix(string(e.Code), "bundle-") || strings.HasPrefix(string(e.Code), "grants-") {
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

// example validates the base catalog after replacing documents with those in text.
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
	_, found, err := CheckReader(t.Context(), strings.NewReader(strings.Join(all, "---\n")), "catalog.yaml", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestEveryCodeExplained checks that each constant of package codes has a page that
// Explanations can read.
func TestEveryCodeExplained(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "internal", "codes", "codes.go"), nil, 0)
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
	slices.Sort(want)
	var got []Code
	for _, e := range Explanations() {
		got = append(got, e.Code)
		if severity := fmt.Sprintf("\n*Severity: %s. ", e.Severity); !strings.Contains(e.Markdown(), severity) {
			t.Errorf("%s has severity %s, but its page states another", e.Code, e.Severity)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes and pages (-code +page):\n%s", diff)
	}
	files, err := os.ReadDir(filepath.Join("..", "docs", "codes"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(want)+1 { // and README.md
		t.Errorf("docs/codes has %d files for %d codes", len(files), len(want))
	}
}

// TestCodeIndex compares docs/codes/README.md with the pages.
func TestCodeIndex(t *testing.T) {
	want := "# Findings\n\nEach finding of `olmkit validate`, `permissions` and `impact` has a code. `olmkit explain CODE` prints its page.\nThis list is written by `go test ./fbc -run TestCodeIndex -update`.\n"
	for _, s := range []Severity{Error, Warning} {
		want += "\n## " + strings.ToUpper(s.String()[:1]) + s.String()[1:] + "s\n\n"
		for _, e := range Explanations() {
			if e.Severity == s {
				want += fmt.Sprintf("- [`%[1]s`](%[1]s.md): %[2]s\n", e.Code, e.Title)
			}
		}
	}
	name := filepath.Join("..", "docs", "codes", "README.md")
	if golden.Update() {
		if err := os.WriteFile(name, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", name, diff)
	}
}
