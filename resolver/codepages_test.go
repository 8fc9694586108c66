package resolver_test

import (
	"context"
	"errors"
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
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/internal/page"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver"
)

// TestCodesExplained finds the codes of advice, notes and fixes in the source. Each must have a page in docs, with an
// example if a case in testdata has one, and the index lists the pages (D16, H40).
func TestCodesExplained(t *testing.T) {
	for _, tt := range []struct {
		dir, title, text string
		types            map[string]string // by directory of the source
		examples         map[string]string
	}{
		{"advice", "Advice", "Advice explains why an operator gets no newer version. Notes of `olmkit select` have the same codes.",
			map[string]string{".": "AdviceKind", "../graph": "OutlookKind", "olmv1": "NoteCode"}, adviceExamples(t)},
		{"fixes", "Fixes", "The changes of a fix have these kinds in JSON.", map[string]string{".": "ChangeKind", "olmv1": "FixKind"}, fixExamples(t)},
	} {
		t.Run(tt.dir, func(t *testing.T) {
			var want, got []string
			for dir, typ := range tt.types {
				want = append(want, constants(t, dir, typ)...)
			}
			slices.Sort(want)
			want = slices.Compact(want)
			index := fmt.Sprintf("# %s\n\n%s\n`olmkit explain CODE` prints the page of a code.\n"+
				"This list is written by `go test ./resolver -run TestCodesExplained -update`.\n\n", tt.title, tt.text)
			for _, e := range page.Explanations(tt.dir) {
				got = append(got, e.Code)
				index += fmt.Sprintf("- [`%[1]s`](%[1]s.md): %[2]s\n", e.Code, e.Title)
				example := strings.TrimSuffix(tt.examples[e.Code], "\n")
				if e.Example == example {
					continue
				}
				if !golden.Update() {
					t.Errorf("the example of %s differs (-page +case; -update writes it):\n%s", e.Code, cmp.Diff(e.Example, example))
					continue
				}
				text, part := "", "\n## Example\n\n```text\n"+e.Example+"\n```\n"
				if example != "" {
					text = "\n## Example\n\n```text\n" + example + "\n```\n"
				}
				file := filepath.Join("..", "docs", tt.dir, e.Code+".md")
				old, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				switch renewed := string(old); {
				case e.Example != "":
					write(t, file, strings.Replace(renewed, part, text, 1))
				case strings.Contains(renewed, "\n## Usual fix\n"):
					write(t, file, strings.Replace(renewed, "\n## Usual fix\n", text+"\n## Usual fix\n", 1))
				default:
					write(t, file, renewed+text)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("codes and pages (-code +page):\n%s", diff)
			}
			file := filepath.Join("..", "docs", tt.dir, "README.md")
			if golden.Update() {
				write(t, file, index)
			}
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(index, string(old)); diff != "" {
				t.Errorf("%s (-want +got; -update writes it):\n%s", file, diff)
			}
			if pages, err := os.ReadDir(filepath.Dir(file)); err != nil || len(pages) != len(want)+1 {
				t.Errorf("%v: %d files for %d codes", err, len(pages), len(want))
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// constants returns the values of the constants of a type in a directory.
func constants(t *testing.T, dir, typ string) (list []string) {
	t.Helper()
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
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if id, ok := v.Type.(*ast.Ident); ok && id.Name == typ {
					text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					list = append(list, text)
				}
			}
			return true
		})
	}
	if len(list) < 4 {
		t.Fatalf("%s has only %d constants of type %s", dir, len(list), typ)
	}
	return list
}

// adviceExamples returns the first advice of each kind in testdata.
func adviceExamples(t *testing.T) map[string]string {
	out := map[string]string{}
	each(t, "testdata/advice/*.txtar", func(p resolver.Problem) {
		sol, err := resolver.Resolve(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		list, err := sol.AdviceWithFixes(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			if out[string(a.Kind)] == "" {
				w := prose.NewWriter(100, nil)
				w.Line(nil, a.String(), "", "")
				text := w.String() + a.CommandsText()
				out[string(a.Kind)] = text + resolver.FixesText(a.Fixes, 100, nil)
			}
		}
	})
	return out
}

// fixExamples returns the first fix of each kind in testdata that consists of one change.
func fixExamples(t *testing.T) map[string]string {
	out := map[string]string{}
	each(t, "testdata/conflicts/*.txtar", func(p resolver.Problem) {
		_, err := resolver.Resolve(context.Background(), p)
		var no *resolver.Conflict
		if !errors.As(err, &no) {
			return
		}
		r, err := no.Report(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Cores {
			for _, f := range c.Fixes {
				if kind := string(f.Changes[0].Kind); len(f.Changes) == 1 && out[kind] == "" {
					out[kind] = resolver.FixesText([]*resolver.Fix{f}, 100, nil)
				}
			}
		}
	})
	return out
}

// each calls f with the problem of each archive.
func each(t *testing.T, pattern string, f func(resolver.Problem)) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f(readCase(t, a))
	}
}
