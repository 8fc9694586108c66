package resolver_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/resolver/fact"
)

// exampleCases are the conflicts in testdata that the examples come from.
var exampleCases = map[fact.Code]string{
	"subscribed":      "alike-versions",
	"unavailable":     "channel-vanished",
	"must-stay":       "orphan-blocks",
	"requires":        "failure-message",
	"one-per-package": "shared-dependency",
	"one-provider":    "two-providers",
	"prohibited":      "deprecated-head",
	"unusable":        "unreadable-bundle",
	"policy-blocked":  "pinned",
	"install-mode":    "install-mode",
	"unmet-part":      "compound-all",
	"crowded":         "crowded",
	"supposed":        "case-split",
}

// TestEveryFactExplained finds the codes in the source: those that facts return, and the constants of steps without a
// fact. Each must have a page.
func TestEveryFactExplained(t *testing.T) {
	var want []fact.Code
	facts := 0
	add := func(x ast.Expr) {
		text, err := strconv.Unquote(x.(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, fact.Code(text))
	}
	for _, dir := range []string{"fact", "../internal/prose"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if ret, ok := last(n).(*ast.ReturnStmt); ok && n.Recv != nil && n.Name.Name == "Code" {
						add(ret.Results[0])
						facts++
					}
				case *ast.ValueSpec:
					if typ, ok := n.Type.(*ast.SelectorExpr); ok && typ.Sel.Name == "Code" {
						add(n.Values[0])
					}
				}
				return true
			})
		}
	}
	slices.Sort(want)
	if facts < 10 {
		t.Errorf("only %d facts have a code", facts)
	}
	var got []fact.Code
	for _, e := range fact.Explanations() {
		got = append(got, e.Code)
		if e.Title == "" || e.Text == "" || e.Fix == "" || e.Rules == "" {
			t.Errorf("%s is not fully explained", e.Code)
		}
		if slices.ContainsFunc(fbc.Explanations(), func(f fbc.Explanation) bool { return string(f.Code) == string(e.Code) }) {
			t.Errorf("%s is also a code of package fbc", e.Code)
		}
		name, ok := exampleCases[e.Code]
		if ok != (e.Example != "") {
			t.Errorf("%s has an example without a case, or a case without an example", e.Code)
		}
		if !ok {
			continue
		}
		a, err := txtar.ParseFile(filepath.Join("testdata", "conflicts", name+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSuffix(file(t, a, "want"), "\n")
		if diff := cmp.Diff(want, e.Example); diff != "" {
			t.Errorf("the example of %s differs from %s (-case +example; -update writes it):\n%s", e.Code, name, diff)
		}
		if golden.Update() {
			page := filepath.Join("..", "docs", "facts", string(e.Code)+".md")
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(page, bytes.Replace(text, []byte(e.Example), []byte(want), 1), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("codes and pages (-code +page):\n%s", diff)
	}
	pages, err := os.ReadDir(filepath.Join("..", "docs", "facts"))
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) != len(want)+1 { // and README.md
		t.Errorf("docs/facts has %d files for %d codes", len(pages), len(want))
	}
	if len(slices.Compact(slices.Clone(want))) != len(want) {
		t.Errorf("a code occurs twice: %v", want)
	}
}

// last returns the last statement of a function.
func last(f *ast.FuncDecl) ast.Stmt {
	if f.Body == nil || len(f.Body.List) == 0 {
		return nil
	}
	return f.Body.List[len(f.Body.List)-1]
}

// TestFactIndex compares docs/facts/README.md with the pages.
func TestFactIndex(t *testing.T) {
	want := "# Facts\n\nEach step of an explanation has the code of a fact. `olmkit explain CODE` prints its page.\n" +
		"This list is written by `go test ./resolver -run TestFactIndex -update`.\n\n"
	for _, e := range fact.Explanations() {
		want += fmt.Sprintf("- [`%[1]s`](%[1]s.md): %[2]s\n", e.Code, e.Title)
	}
	name := filepath.Join("..", "docs", "facts", "README.md")
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

// TestFactIsOneOf compares the list in the documentation of Fact with the types that implement it.
func TestFactIsOneOf(t *testing.T) {
	files, err := filepath.Glob("fact/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "isFact" && d.Recv != nil {
					want = append(want, d.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
				}
			case *ast.GenDecl:
				if x, ok := d.Specs[0].(*ast.TypeSpec); ok && x.Name.Name == "Fact" {
					for _, m := range regexp.MustCompile(`\*(\w+)`).FindAllStringSubmatch(d.Doc.Text(), -1) {
						got = append(got, m[1])
					}
				}
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 10 {
		t.Errorf("the facts (-) and those that the documentation of Fact lists (+):\n%s", diff)
	}
}
