package repo_test

import (
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mostModules is the maximum number of modules in the module graph of a program that imports resolver.
const mostModules = 35

// TestWhatImportersLink generates a program that imports every public package, and compares the modules that it links
// with the table in ARCHITECTURE.md. Modules that only tests need do not count.
func TestWhatImportersLink(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "### What an importer links\n")
	table, _, _ = strings.Cut(table, "\n#")
	var want []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(table, -1) {
		want = append(want, m[1])
	}
	var public []string
	for _, p := range load(t, ".") {
		if !isInternal(module + "/" + p.dir) {
			public = append(public, p.dir)
		}
	}
	dir := importing(t, public...)
	got := strings.Fields(alone(t, dir, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."))
	slices.Sort(got)
	got = slices.DeleteFunc(slices.Compact(got), func(path string) bool { return path == module || path == "example.com/importer" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the modules in ARCHITECTURE.md (-) differ from those that importers link (+):\n%s", diff)
	}
}

// TestModuleGraph limits the size of the module graph of a program that imports resolver.
func TestModuleGraph(t *testing.T) {
	dir := importing(t, "resolver")
	alone(t, dir, "list", "-deps", ".") // completes go.mod
	graph := alone(t, dir, "list", "-m", "all")
	if n := strings.Count(graph, "\n"); n < 10 || n > mostModules {
		t.Errorf("an importer of resolver has %d modules, want at most %d:\n%s", n, mostModules, graph)
	}
}

// TestStartup checks that olmkit does not link packages whose initialization takes milliseconds, which each command
// would pay for.
func TestStartup(t *testing.T) {
	slow := map[string]string{
		"github.com/santhosh-tekuri/jsonschema/v6": "compiles the schemas of five drafts; kube/registryv1/evaluate.go validates without it",
		"k8s.io/client-go/kubernetes/scheme":       "registers the types of all APIs; use the packages of those that are needed",
		"github.com/distribution/reference":        "compiles eight regular expressions; use internal/imageref",
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./olmkit")
	list.Dir = "cmd"
	list.Env = append(os.Environ(), "GOWORK=") // as in a clone, also where the root is tested alone
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		if reason := slow[path]; reason != "" {
			t.Errorf("olmkit links %s, which %s", path, reason)
		}
	}
}

// TestLazyRegexps checks that no package compiles a regular expression when a program starts.
func TestLazyRegexps(t *testing.T) {
	for _, root := range []string{".", "cmd", "kube"} {
		walkGo(t, root, true, func(name string, file *ast.File) {
			if strings.HasSuffix(name, "_test.go") {
				return
			}
			for _, d := range file.Decls {
				vars, ok := d.(*ast.GenDecl)
				if !ok {
					continue
				}
				ast.Inspect(vars, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.FuncLit:
						return false // runs later
					case *ast.SelectorExpr:
						if n.Sel.Name == "MustCompile" {
							t.Errorf("%s: a package-level variable calls MustCompile; use internal/lazyregexp", name)
						}
					}
					return true
				})
			}
		})
	}
}

// importing returns a directory with a module that imports packages of this one.
func importing(t *testing.T, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	code := "package importer\n"
	for _, p := range packages {
		code += fmt.Sprintf("\nimport _ %q\n", module+"/"+p)
	}
	for name, text := range map[string]string{
		"go.mod":      fmt.Sprintf("module example.com/importer\n\ngo 1.25.0\n\nrequire %[1]s v0.0.0\n\nreplace %[1]s => %[2]s\n", module, root),
		"go.sum":      string(sums),
		"importer.go": code,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// alone runs the go command in a module outside of the workspace. It may update the go.mod of that module.
func alone(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return string(out)
}

// TestModulesAreComplete checks that the go.mod of each module in the workspace lists everything that its packages and
// tests import. In the workspace, the go.mod of another module could supply it.
func TestModulesAreComplete(t *testing.T) {
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"cmd", "kube"} {
		tmp := t.TempDir()
		goMod := filepath.Join(tmp, "go.mod")
		for _, name := range []string{"go.mod", "go.sum"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(tmp, name), text, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		alone(t, tmp, "mod", "edit", "-replace="+module+"="+root, "-replace="+module+"/kube="+root+"/kube")
		list := exec.CommandContext(t.Context(), "go", "list", "-mod=readonly", "-modfile="+goMod, "-deps", "-test", "./...")
		list.Dir = dir
		list.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		var errs strings.Builder
		list.Stderr = &errs
		if err := list.Run(); err != nil {
			t.Errorf("%s/go.mod is incomplete; run make tidy: %v\n%s", dir, err, &errs)
		}
	}
}

// TestWorkspaces checks that plain go commands work in the directory of every module: the module is part of the
// workspace, or has a go.work that lists only its directory.
func TestWorkspaces(t *testing.T) {
	use := regexp.MustCompile(`(?m)^(?:use |\t)(\.[a-z/]*)$`)
	uses := func(name string) []string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, m := range use.FindAllStringSubmatch(string(text), -1) {
			out = append(out, m[1])
		}
		return out
	}
	together := uses("go.work")
	if want := []string{".", "./cmd", "./kube"}; !slices.Equal(together, want) {
		t.Errorf("go.work uses %q, want %q: update tidy.sh, release.sh and these tests", together, want)
	}
	n := 0
	err := filepath.WalkDir(".", func(name string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != "go.mod" || strings.Contains(filepath.ToSlash(name), "/testdata/") {
			return err
		}
		n++
		dir := filepath.ToSlash(filepath.Dir(name))
		if dir != "." && !slices.Contains(together, "./"+dir) {
			if list := uses(filepath.Join(dir, "go.work")); !slices.Equal(list, []string{"."}) {
				t.Errorf("%s/go.work uses %q, want that directory alone", dir, list)
			}
		}
		return nil
	})
	if err != nil || n < 8 {
		t.Fatalf("%d modules: %v", n, err)
	}
}
