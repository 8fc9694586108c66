package repo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPublicAPI checks that the exported API names only types of the standard library, of blang/semver and of this
// module. Other modules below version 1 may change incompatibly, and importers cannot name internal types.
func TestPublicAPI(t *testing.T) {
	packages, standard := publicPackages(t, "./...")
	w := &apiWalker{seen: map[types.Type]bool{}, allowed: func(path string) bool {
		return standard[path] || path == "github.com/blang/semver/v4" || inModule(path) && !isInternal(path)
	}}
	for _, p := range packages {
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				w.walk(p.Path()+"."+name, o.Type())
			}
		}
	}
	slices.Sort(w.found)
	for _, f := range w.found {
		t.Error(f)
	}
}

// publicPackages returns the packages matching patterns that importers may import, and the set of paths of the
// standard library.
func publicPackages(t *testing.T, patterns ...string) (public []*types.Package, standard map[string]bool) {
	t.Helper()
	export, standard, paths := exports(t, patterns...)
	if len(paths) < 8 {
		t.Fatalf("only %d packages found", len(paths))
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(export[path]) })
	for _, path := range paths {
		p, err := imp.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		public = append(public, p)
	}
	return public, standard
}

// exports returns the export data files of the packages matching patterns and of their dependencies, the set of paths
// of the standard library, and the packages that importers may import.
func exports(t *testing.T, patterns ...string) (export map[string]string, standard map[string]bool, paths []string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,Standard,Name"}, patterns...)...)
	list.Env = append(os.Environ(), "GOWORK=") // patterns may match packages of kube
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	export, standard = map[string]string{}, map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Name string
			Standard                 bool
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		export[p.ImportPath], standard[p.ImportPath] = p.Export, p.Standard
		if inModule(p.ImportPath) && !isInternal(p.ImportPath) && p.Name != "main" && p.Export != "" { // the root has only tests
			paths = append(paths, p.ImportPath)
		}
	}
	return export, standard, paths
}

func inModule(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func isInternal(path string) bool {
	return strings.Contains(path+"/", "/internal/") || strings.HasPrefix(path, module+"/examples/")
}

// An apiWalker follows exported names to the types in them.
type apiWalker struct {
	allowed func(path string) bool
	seen    map[types.Type]bool
	found   []string
}

// walk visits the parts of a type that importers see. at is the name where the type occurs.
func (w *apiWalker) walk(at string, t types.Type) {
	if w.seen[t] && !isNamed(t) {
		return
	}
	switch t := t.(type) {
	case *types.Alias:
		w.named(at, t.Obj())
		w.walk(at, types.Unalias(t))
	case *types.Named:
		w.named(at, t.Obj())
		for arg := range t.TypeArgs().Types() {
			w.walk(at, arg)
		}
		o := t.Obj()
		if o.Pkg() == nil || !inModule(o.Pkg().Path()) || w.seen[t] {
			return
		}
		w.seen[t] = true
		name := o.Pkg().Path() + "." + o.Name()
		for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
			if m.Obj().Exported() {
				w.walk(name+"."+m.Obj().Name(), m.Type())
			}
		}
		w.walk(name, t.Underlying())
	case *types.TypeParam:
		w.seen[t] = true
		w.walk(at, t.Constraint())
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				w.walk(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Signature:
		for p := range t.Params().Variables() {
			w.walk(at, p.Type())
		}
		for r := range t.Results().Variables() {
			w.walk(at, r.Type())
		}
		for p := range t.TypeParams().TypeParams() {
			w.walk(at, p)
		}
	case *types.Interface:
		for e := range t.EmbeddedTypes() {
			w.walk(at, e)
		}
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				w.walk(at+"."+m.Name(), m.Type())
			}
		}
	case *types.Map:
		w.walk(at, t.Key())
		w.walk(at, t.Elem())
	case *types.Union:
		for term := range t.Terms() {
			w.walk(at, term.Type())
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		w.walk(at, t.Elem())
	}
}

func isNamed(t types.Type) bool {
	_, ok := t.(*types.Named)
	return ok
}

// named reports a type that importers should not see.
func (w *apiWalker) named(at string, o *types.TypeName) {
	if o.Pkg() != nil && !w.allowed(o.Pkg().Path()) {
		if f := fmt.Sprintf("%s names %s.%s", strings.TrimPrefix(at, module+"/"), o.Pkg().Path(), o.Name()); !slices.Contains(w.found, f) {
			w.found = append(w.found, f)
		}
	}
}
