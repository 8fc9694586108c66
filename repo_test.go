// Package repo_test holds tests about the repository itself: which packages may import which, what every package must
// have, and what the documentation promises.
package repo_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/olmkit/olmkit"

// A pkg is a package of the root module without its tests.
type pkg struct {
	dir     string   // relative, slash-separated
	comment bool     // at least one file has a package comment
	imports []string // sorted
}

// load returns the packages of the module below a directory, except those of nested modules.
func load(t *testing.T, root string) []*pkg {
	t.Helper()
	byDir := map[string]*pkg{}
	var dirs []string
	walkGo(t, root, true, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		dir := path.Dir(name)
		p := byDir[dir]
		if p == nil {
			p = &pkg{dir: dir}
			byDir[dir], dirs = p, append(dirs, dir)
		}
		p.comment = p.comment || file.Doc != nil
		for _, spec := range file.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			p.imports = append(p.imports, imp)
		}
	})
	var out []*pkg
	slices.Sort(dirs)
	for _, dir := range dirs {
		p := byDir[dir]
		slices.Sort(p.imports)
		p.imports = slices.Compact(p.imports)
		out = append(out, p)
	}
	if len(out) < 8 {
		t.Fatalf("only %d packages found", len(out))
	}
	return out
}

// walkGo parses every Go file below root. If one is true, it skips nested modules.
func walkGo(t *testing.T, root string, one bool, visit func(name string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != root {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); one && err == nil && name != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(name), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	for _, p := range load(t, ".") {
		if !p.comment {
			t.Errorf("package in %s has no package comment", p.dir)
		}
	}
}

// layers lists the packages in the order in which data flows. A package may import only packages that come before it.
var layers = []string{
	"property", "constraints",
	"fbc/internal/decode", "fbc", "internal/bundledir", "internal/phrase", "internal/kubectl", "fbc/bundle", "fbc/report", "fbc/template", "fbc/lifecycle", "internal/disk",
	"graph", "graph/draw",
	"olm", "internal/ownerlabel", "operatorgroup", "internal/clusterstatus",
	"resolver/fact", "internal/sat", "internal/proof", "internal/prose",
	"resolver/document", "resolver",
	"resolver/olmv1", "resolver/platform", "resolver/shrink", "resolver/subset",
	"reconcile/internal/status", "reconcile/internal/serving", "reconcile/internal/world", "reconcile/internal/change",
	"reconcile/internal/catalog", "reconcile/internal/generated", "reconcile/internal/steps",
	"reconcile/internal/crd", "reconcile/internal/csv", "reconcile/internal/group",
	"reconcile/internal/installplan", "reconcile/internal/subscription", "reconcile/internal/cleanup", "reconcile/internal/component",
	"reconcile", "reconcile/memcluster", "reconcile/clustertest",
}

// servants lists packages that all layers may import. They import only other servants from this module.
var servants = []string{
	"docs", "internal/apigroup", "internal/buildversion", "internal/celcost", "internal/chain", "internal/codes", "internal/imageref",
	"internal/jq", "internal/jsonkind", "internal/jsonscan", "internal/labels", "internal/lazyregexp", "internal/manifest",
	"internal/metric", "internal/near", "internal/page", "internal/reason", "internal/regular", "internal/shell",
	"internal/version", "internal/visible", "internal/yamljson", "internal/yamlout",
}

// outside lists the packages of tests and examples, which may import any layer.
var outside = []string{
	".", "internal/conformance", "internal/golden", "internal/realcat", "internal/sample", "internal/testcatalog",
	"internal/testctx", "internal/testsize",
}

// TestImportDirections checks that packages import only earlier layers (see ARCHITECTURE.md).
func TestImportDirections(t *testing.T) {
	for _, p := range load(t, ".") {
		at, serves := slices.Index(layers, p.dir), slices.Contains(servants, p.dir)
		if at < 0 && !serves && !slices.Contains(outside, p.dir) && !strings.HasPrefix(p.dir, "examples/") {
			t.Errorf("%s is in no layer; add it to layers or servants", p.dir)
		}
		for _, imp := range p.imports {
			rel, ours := strings.CutPrefix(imp, module+"/")
			if !ours {
				continue
			}
			switch {
			case at >= 0 && slices.Index(layers, rel) > at:
				t.Errorf("%s imports %s, which comes after it", p.dir, rel)
			case serves && !slices.Contains(servants, rel):
				t.Errorf("%s imports %s; it serves the layers and knows nothing of operators", p.dir, rel)
			case at >= 0 && slices.Contains(outside, rel):
				t.Errorf("%s imports %s, which is for tests", p.dir, rel)
			case strings.HasPrefix(rel, "cmd/"):
				t.Errorf("%s imports the command line", p.dir)
			}
		}
	}
}

// TestHeavyImports limits which packages import heavy dependencies, so that these dependencies can be replaced, and
// importers of the library do not get those of the command line.
func TestHeavyImports(t *testing.T) {
	for _, tt := range []struct {
		prefix string
		dirs   []string
	}{
		{"github.com/go-air/gini", []string{"internal/sat"}},
		{module + "/internal/sat", []string{"resolver", "internal/proof"}},
		{"github.com/google/cel-go", []string{"constraints", "internal/celcost"}},
		// Only internal/yamljson reads YAML, because it limits the expansion (S1). fbc/report only writes it.
		{"go.yaml.in/yaml", []string{"internal/yamljson", "fbc/report"}},
	} {
		for _, p := range load(t, ".") {
			for _, imp := range p.imports {
				if strings.HasPrefix(imp, tt.prefix) && !slices.Contains(tt.dirs, p.dir) {
					t.Errorf("%s imports %s; only %s may", p.dir, imp, strings.Join(tt.dirs, ", "))
				}
			}
		}
	}
}

// TestNoClocks checks that no test of any module depends on a clock, except on the fake one of testing/synctest and
// those with a listed reason, and that only internal/testsize decides how much a test does.
func TestNoClocks(t *testing.T) {
	clocks := []string{"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTicker", "time.NewTimer",
		"context.WithTimeout", "context.WithTimeoutCause", "context.WithDeadline", "context.WithDeadlineCause", "testing.Short"}
	const (
		server  = "waits for a real API server, or for a change that must not happen"
		process = "waits for a real process"
		browser = "waits for a real browser"
		slow    = "tests a slow server or a caller's timeout"
		stamp   = "needs a current time in a certificate, a file or a condition"
	)
	allowed := map[string]string{
		"reconcile/example_loop_test.go": "shows a controller, which waits for its cluster",

		"cmd/internal/cli/registrytest/registry_test.go": stamp,

		"cmd/internal/view/browsertest/browser_test.go": browser,
		"cmd/internal/view/browsertest/hostile_test.go": browser,
		"cmd/internal/view/browsertest/look_test.go":    browser,

		"kube/catalogd/client_test.go":                slow,
		"kube/cmd/olmkit-controller/cache_test.go":    stamp,
		"kube/cmd/olmkit-controller/command_test.go":  process,
		"kube/cmd/olmkit-controller/outage_test.go":   process,
		"kube/cmd/olmkit-controller/renewed_test.go":  stamp,
		"kube/cmd/olmkit-controller/served_test.go":   process,
		"kube/content/imageindex_test.go":             stamp,
		"kube/content/store_test.go":                  slow,
		"kube/e2e_test.go":                            server,
		"kube/extension/script_test.go":               server,
		"kube/extension/server_test.go":               server,
		"kube/extension/stage_test.go":                server,
		"kube/fault_test.go":                          server,
		"kube/fleet_test.go":                          server,
		"kube/internal/envtest/environment_test.go":   server,
		"kube/internal/livetest/extension_test.go":    server,
		"kube/internal/livetest/live_test.go":         server,
		"kube/internal/livetest/recipe_test.go":       server,
		"kube/internal/scenario/account_test.go":      server,
		"kube/internal/scenario/cluster_test.go":      server,
		"kube/internal/scenario/refuse_test.go":       server,
		"kube/internal/scenario/scenario_test.go":     server,
		"kube/internal/scenario/webhook_test.go":      server,
		"kube/internal/sidebyside/cluster_test.go":    server,
		"kube/internal/sidebyside/measure_test.go":    server,
		"kube/internal/sidebyside/run_test.go":        server,
		"kube/internal/sidebyside/scenarios_test.go":  server,
		"kube/internal/sidebyside/served_test.go":     stamp,
		"kube/internal/sidebyside/settled_test.go":    server,
		"kube/internal/sidebyside/sidebyside_test.go": server,
		"kube/internal/sidebyside/swap_test.go":       server,
		"kube/many_test.go":                           server,
		"kube/oci/puller_test.go":                     slow,
		"kube/outage_test.go":                         server,
		"kube/runs_test.go":                           server,
		"kube/sighting_test.go":                       server,
	}
	used := map[string]bool{}
	walkGo(t, ".", false, func(name string, file *ast.File) {
		if !strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok && isCallOf(c, "synctest", "Test") {
				return false
			}
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && slices.Contains(clocks, x.Name+"."+s.Sel.Name) {
					if used[name] = true; allowed[name] == "" {
						t.Errorf("%s uses %s.%s", name, x.Name, s.Sel.Name)
					}
				}
			}
			return true
		})
	})
	for name := range allowed {
		if !used[name] {
			t.Errorf("%s uses no clock; remove it from the list", name)
		}
	}
}

// isCallOf reports whether an expression calls a function of a package.
func isCallOf(c *ast.CallExpr, pkg, name string) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg && s.Sel.Name == name
}

// TestGoMod checks the parts of go.mod that affect importers of the library.
func TestGoMod(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "replace"):
			t.Errorf("go.mod:%d: %s: replacements have no effect for importers; remove it", n+1, line)
		case strings.HasPrefix(line, "tool"):
			t.Errorf("go.mod:%d: %s: tools belong to internal/tools", n+1, line)
		case kubernetes.MatchString(line):
			t.Errorf("go.mod:%d: %s: Kubernetes belongs to nested modules", n+1, line)
		case strings.HasPrefix(line, "go ") && line != "go 1.25.0":
			t.Errorf("go.mod:%d: %s: the library supports the two newest releases", n+1, line)
		}
	}
}

// kubernetes matches the modules that would bring in Kubernetes. sigs.k8s.io/yaml does not.
var kubernetes = regexp.MustCompile(`^(require )?(k8s\.io|sigs\.k8s\.io/[^y]|github\.com/operator-framework|github\.com/openshift)`)

// TestNothingLeftBehind looks for leftover notes about unfinished work.
func TestNothingLeftBehind(t *testing.T) {
	left := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	walkGo(t, ".", false, func(name string, file *ast.File) {
		for _, group := range file.Comments {
			if word := left.FindString(group.Text()); word != "" {
				t.Errorf("%s: a comment has %s; do the work, or open an issue", name, word)
			}
		}
	})
}

// TestNoForeignDocuments looks for references to documents that are not in the repository.
func TestNoForeignDocuments(t *testing.T) {
	foreign := regexp.MustCompile(`(?i)\bdocument \d{3}\b`)
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains([]string{".go", ".md", ".js", ".tsv", ".yaml"}, filepath.Ext(name)):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for n, line := range strings.Split(string(text), "\n") {
			if found := foreign.FindString(line); found != "" {
				t.Errorf("%s:%d: the repository does not have %q; state what it says", name, n+1, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFileSizes keeps files readable in one sitting.
func TestFileSizes(t *testing.T) {
	const most = 500
	walkGo(t, ".", false, func(name string, _ *ast.File) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > most && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s has %d lines, more than %d: split it by idea", name, n, most)
		}
	})
}

// TestExamplesAreRun checks that each example is run, by the README or by its test.
func TestExamplesAreRun(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"examples/*/main.go", "kube/examples/*/main.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no examples match %s: %v", pattern, err)
		}
		for _, name := range names {
			dir := filepath.ToSlash(filepath.Dir(name))
			tests, err := filepath.Glob(dir + "/*_test.go")
			if err != nil {
				t.Fatal(err)
			}
			if len(tests) == 0 && !strings.Contains(string(readme), "$ go run ./"+dir+" ") {
				t.Errorf("%s has no test, and README.md does not run it", dir)
			}
		}
	}
}

// TestPackagesHaveExamples checks that each public package has a testable example.
func TestPackagesHaveExamples(t *testing.T) {
	has := map[string]bool{}
	walkGo(t, ".", true, func(name string, file *ast.File) {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && strings.HasSuffix(name, "_test.go") && strings.HasPrefix(fn.Name.Name, "Example") {
				has[path.Dir(name)] = true
			}
		}
	})
	for _, p := range load(t, ".") {
		public := !strings.HasPrefix(p.dir, "internal/") && !strings.Contains(p.dir, "/internal/") &&
			!strings.HasPrefix(p.dir, "cmd/") && !strings.HasPrefix(p.dir, "examples/") && p.dir != "." && p.dir != "docs" // which only holds pages
		if public && !has[p.dir] {
			t.Errorf("package %s has no example", p.dir)
		}
	}
}
