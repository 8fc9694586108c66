package repo_test

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostUpward is the number of references that run upwards between the files of a package. Changes may lower a number, but not
// raise it. Packages that are not listed have none.
var mostUpward = map[string]int{
	"constraints":                     1,
	"fbc":                             12,
	"fbc/bundle":                      1,
	"fbc/internal/decode":             2,
	"fbc/report":                      1,
	"graph":                           14,
	"internal/proof":                  2,
	"internal/prose":                  9,
	"internal/sat":                    2,
	"olm":                             1,
	"reconcile/internal/catalog":      1,
	"reconcile/internal/cleanup":      1,
	"reconcile/internal/component":    2,
	"reconcile/internal/csv":          8,
	"reconcile/internal/group":        2,
	"reconcile/internal/installplan":  2,
	"reconcile/internal/serving":      2,
	"reconcile/internal/subscription": 3,
	"reconcile/internal/world":        3,
	"reconcile/memcluster":            2,
	"resolver":                        13,
	"resolver/olmv1":                  2,
	"resolver/platform":               1,
	"resolver/shrink":                 3,
	"resolver/subset":                 1,
}

// TestUpwardReferences limits the references that run upwards between the files of a package (see ARCHITECTURE.md). It
// stacks the files so that there are few such references.
func TestUpwardReferences(t *testing.T) {
	check := newChecker(t)
	for _, dir := range layers {
		up := upward(check.pkg(t, dir).references())
		switch most := mostUpward[dir]; {
		case len(up) > most:
			t.Errorf("%s: %d references between files run upwards, more than %d; move a declaration to the file that uses it:\n\t%s",
				dir, len(up), most, strings.Join(up, "\n\t"))
		case len(up) < most:
			t.Errorf("%s: %d references between files run upwards, fewer than %d; lower mostUpward", dir, len(up), most)
		}
	}
}

// upward returns the references that run upwards, sorted, after stacking the files greedily to avoid them. Files that
// refer to no others go to the bottom, and those that no others refer to go to the top. Of the remaining files, the
// one with the largest excess of outgoing over incoming references is placed next from the top (Eades, Lin and Smyth,
// 1993).
func upward(files []string, refs map[string]map[string]bool) (list []string) {
	left := slices.Clone(files)
	var top, bottom []string
	for len(left) > 0 {
		out, in := map[string]int{}, map[string]int{}
		for _, from := range left {
			for _, to := range left {
				if refs[from][to] {
					out[from]++
					in[to]++
				}
			}
		}
		next := slices.MaxFunc(left, func(a, b string) int { return out[a] - in[a] - (out[b] - in[b]) })
		if i := slices.IndexFunc(left, func(f string) bool { return in[f] == 0 }); i >= 0 {
			next = left[i]
		}
		if i := slices.IndexFunc(left, func(f string) bool { return out[f] == 0 }); i >= 0 {
			next = left[i]
			bottom = append(bottom, next)
		} else {
			top = append(top, next)
		}
		left = slices.DeleteFunc(left, func(f string) bool { return f == next })
	}
	slices.Reverse(bottom)
	order := append(top, bottom...)
	for i, to := range order {
		for _, from := range order[i+1:] {
			if refs[from][to] {
				list = append(list, from+" to "+to)
			}
		}
	}
	slices.Sort(list)
	return list
}

// TestPathOfProblem limits the path of a Problem from Resolve to its answer: the number of files with functions that
// name a Problem, in the order of calls; the number of returns to a file that the path left; and the number of
// different names that variables of type Problem have.
func TestPathOfProblem(t *testing.T) {
	p := newChecker(t).pkg(t, "resolver")
	problem := p.types.Scope().Lookup("Problem").Type()
	bodies := map[types.Object]*ast.FuncDecl{}
	for _, f := range p.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				bodies[p.info.Defs[fn.Name]] = fn
			}
		}
	}
	var files, names []string
	stays := 0
	at := ""
	seen := map[types.Object]bool{}
	var walk func(o types.Object)
	walk = func(o types.Object) {
		fn := bodies[o]
		if fn == nil || seen[o] {
			return
		}
		seen[o] = true
		ast.Inspect(fn, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			use := p.info.ObjectOf(id)
			if v, ok := use.(*types.Var); ok {
				typ := v.Type()
				if ptr, ok := typ.(*types.Pointer); ok {
					typ = ptr.Elem()
				}
				if types.Identical(typ, problem) {
					names = append(names, id.Name)
					if file := p.file(fn); file != at {
						at, stays = file, stays+1
						files = append(files, file)
					}
				}
			}
			walk(use)
			return true
		})
	}
	walk(p.types.Scope().Lookup("Resolve"))
	slices.Sort(files)
	slices.Sort(names)
	files, names = slices.Compact(files), slices.Compact(names)
	const mostFiles, mostReturns, mostNames = 11, 6, 1
	if returns := stays - len(files); len(files) > mostFiles || returns > mostReturns || len(names) > mostNames {
		t.Errorf("a Problem passes through %d files, with %d returns, under %d names; want at most %d, %d and %d\n%s\n%s",
			len(files), returns, len(names), mostFiles, mostReturns, mostNames, files, names)
	}
}

// A checker type-checks packages without their tests.
type checker struct {
	export map[string]string // the export data files of imported packages, by path
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	export, _, _ := exports(t, "./...")
	return &checker{export}
}

// A checked is a type-checked package.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	types *types.Package
	info  *types.Info
}

// pkg checks the package in a directory.
func (c *checker) pkg(t *testing.T, dir string) *checked {
	t.Helper()
	p := &checked{fset: token.NewFileSet(), info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	names, err := filepath.Glob(filepath.FromSlash(dir) + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if ok, err := build.Default.MatchFile(filepath.Split(name)); err != nil || !ok || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(p.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files = append(p.files, f)
	}
	conf := types.Config{Importer: importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(c.export[path]) })}
	if p.types, err = conf.Check(module+"/"+dir, p.fset, p.files, p.info); err != nil {
		t.Fatal(err)
	}
	return p
}

// file returns the base name of the file that contains a node.
func (p *checked) file(n ast.Node) string {
	return filepath.Base(p.fset.Position(n.Pos()).Filename)
}

// references returns the files of the package, sorted, and for each file the other files that declare names it uses.
func (p *checked) references() (files []string, refs map[string]map[string]bool) {
	refs = map[string]map[string]bool{}
	for _, f := range p.files {
		name := p.file(f)
		files = append(files, name)
		refs[name] = map[string]bool{}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				if o := p.info.Uses[id]; o != nil && o.Pkg() == p.types {
					if to := filepath.Base(p.fset.Position(o.Pos()).Filename); to != name {
						refs[name][to] = true
					}
				}
			}
			return true
		})
	}
	return files, refs
}
