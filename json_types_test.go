package repo_test

import (
	"fmt"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestJSONOfTypes checks that each exported type that has JSON tags, or marshals itself, has the same JSON in both
// versions of encoding/json, without null: an empty list is [], and unset fields are left out. It generates a program
// that marshals three values of each type: the zero value, one with empty lists, and one with every field set.
func TestJSONOfTypes(t *testing.T) {
	packages, _ := publicPackages(t, "./...", "./kube/...")
	var imports, list strings.Builder
	n := 0
	for i, p := range packages {
		if p.Path() == module+"/kube/extension/api" {
			continue // a Kubernetes API, which follows the conventions of Kubernetes
		}
		found := false
		for _, name := range p.Scope().Names() {
			if o, ok := p.Scope().Lookup(name).(*types.TypeName); ok && isWrittenAsJSON(o) {
				fmt.Fprintf(&list, "\treflect.TypeFor[p%d.%s](),\n", i, name)
				found = true
				n++
			}
		}
		if found {
			fmt.Fprintf(&imports, "\tp%d %q\n", i, p.Path())
		}
	}
	if n < 60 {
		t.Fatalf("only %d types found", n)
	}
	program, err := os.ReadFile("testdata/jsontypes/main.go")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := []string{"run"}
	for name, text := range map[string]string{
		"main.go": string(program),
		"all.go":  "package main\n\nimport (\n\t\"reflect\"\n\n" + imports.String() + ")\n\nvar all = []reflect.Type{\n" + list.String() + "}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		run = append(run, file)
	}
	cmd := exec.CommandContext(t.Context(), "go", run...)
	cmd.Env = append(os.Environ(), "GOWORK=") // includes kube, even if the tests run without it
	out, err := cmd.CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// isWrittenAsJSON reports whether a type is exported, has no type parameters, and has JSON tags or a method
// MarshalJSON, or is a list of such a type. An alias of an instantiated generic type counts. Parts of objects in
// package olm that keep unknown members do not count, because only whole objects are written.
func isWrittenAsJSON(o *types.TypeName) bool {
	t, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok || !o.Exported() || o.IsAlias() != (t.TypeArgs().Len() > 0) || t.TypeParams().Len() > t.TypeArgs().Len() {
		return false
	}
	if marshalsItself(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		elem := u.Elem()
		if p, ok := elem.(*types.Pointer); ok {
			elem = p.Elem()
		}
		named, ok := elem.(*types.Named)
		return ok && isWrittenAsJSON(named.Obj())
	case *types.Struct:
		for i := range u.NumFields() {
			if _, ok := reflect.StructTag(u.Tag(i)).Lookup("json"); ok {
				return !keepsUnknown(t)
			}
		}
	}
	return false
}

func marshalsItself(t types.Type) bool {
	m, _, _ := types.LookupFieldOrMethod(t, true, nil, "MarshalJSON")
	return m != nil
}

// keepsUnknown reports whether a struct, or one that it contains, has a field for unknown members.
func keepsUnknown(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || marshalsItself(t) {
		return false
	}
	for i := range s.NumFields() {
		if strings.HasSuffix(reflect.StructTag(s.Tag(i)).Get("json"), ",unknown") || keepsUnknown(s.Field(i).Type()) {
			return true
		}
	}
	return false
}
