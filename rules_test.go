package repo_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/internal/golden"
)

// A rule is one line of docs/rules.tsv.
type rule struct {
	id       string
	sources  []string // empty for the title of a section
	sentence string
}

// readRules reads docs/rules.tsv.
func readRules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile("docs/rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []rule
	for n, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 || f[0] == "" || f[2] == "" || (len(f[0]) > 1) != (f[1] != "") {
			t.Fatalf("docs/rules.tsv:%d: want an id, sources and a sentence, with tabs between them", n+1)
		}
		r := rule{id: f[0], sentence: f[2]}
		if f[1] != "" {
			r.sources = strings.Split(f[1], ", ")
		}
		for _, s := range r.sources {
			if ruleSources[s] == "" {
				t.Errorf("docs/rules.tsv:%d: the source %q is not one of those in rules_test.go", n+1, s)
			}
		}
		out = append(out, r)
	}
	return out
}

// ruleSources maps the sources of rules to their names on the page.
var ruleSources = map[string]string{
	"fbc":      "the documentation of file-based catalogs",
	"concepts": "the documentation of OLM's concepts and resources",
	"groups":   "the documentation of operator groups",
	"workflow": "the documentation of installing and upgrading operators",
	"v1":       "the documentation of update paths in OLM v1",
	"running":  "the behavior of OLM, opm and operator-controller",
	"olmkit":   "a decision of this project",
	"differs":  "olmkit differs on purpose",
}

var ruleID = regexp.MustCompile(`\b([A-HS][1-9][0-9]?|K[1-9][0-9]{0,2})\b`)

// A proof is a test that names a rule.
type proof struct {
	file string // relative to the root, slash-separated
	test string // a function, or the name of a script
}

// proofs finds the tests that name rules. Rules are named in the comments, names and string literals of test functions
// and of the tables that these use, and in the names and opening comments of scripts.
func proofs(t *testing.T) map[string][]proof {
	t.Helper()
	found := map[string][]proof{}
	add := func(text string, p proof) {
		for _, id := range ruleID.FindAllString(text, -1) {
			found[id] = append(found[id], p)
		}
	}
	walkGo(t, ".", false, func(name string, file *ast.File) {
		if dir := path.Dir(name); strings.HasSuffix(name, "_test.go") && dir != "." && dir != "cmd" {
			testProofs(name, file, add)
		}
	})
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".txtar") {
			return err
		}
		name = filepath.ToSlash(name)
		if !strings.Contains("/"+name, "/testdata/") {
			return nil
		}
		text, err := os.ReadFile(name)
		head, _, _ := bytes.Cut(text, []byte("\n-- "))
		script := strings.TrimSuffix(path.Base(name), ".txtar")
		add(script+"\n"+string(head), proof{name, script})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, list := range found {
		slices.SortFunc(list, func(a, b proof) int {
			return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.test, b.test))
		})
		found[id] = slices.Compact(list)
	}
	return found
}

// code finds the files whose comments cite rules, sorted.
func code(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	walkGo(t, ".", false, func(name string, file *ast.File) {
		if strings.HasSuffix(name, "_test.go") || path.Base(name) == "doc.go" || strings.HasPrefix(name, "compare/") || strings.HasPrefix(name, "internal/conformance/") {
			return
		}
		for _, group := range file.Comments {
			for _, id := range ruleID.FindAllString(group.Text(), -1) {
				found[id] = append(found[id], name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool { // strings name rules too, such as the rule of a change
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if id := strings.Trim(lit.Value, `"`); ruleID.FindString(id) == id && id != "" {
					found[id] = append(found[id], name)
				}
			}
			return true
		})
	})
	for id, list := range found {
		slices.Sort(list)
		found[id] = slices.Compact(list)
	}
	return found
}

// testProofs calls add with the text of each test function in a file: its comments, its name and its string literals,
// with those of the variables that it uses.
func testProofs(name string, file *ast.File, add func(text string, p proof)) {
	tables := map[string]string{} // the texts of package-level variables, by name
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, n := range v.Names {
					tables[n.Name] = said(file, gen)
				}
			}
		}
	}
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || !isTest.MatchString(fn.Name.Name) {
			continue
		}
		text := fn.Name.Name + "\n" + said(file, fn)
		ast.Inspect(fn, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				text += tables[id.Name]
			}
			return true
		})
		add(text, proof{name, fn.Name.Name})
	}
}

var isTest = regexp.MustCompile(`^(Test|Fuzz|Example)`)

// said returns the comments and string literals of a declaration.
func said(file *ast.File, decl ast.Node) string {
	from, to := decl.Pos(), decl.End()
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			from = d.Doc.Pos()
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			from = d.Doc.Pos()
		}
	}
	var b strings.Builder
	for _, group := range file.Comments {
		if from <= group.Pos() && group.End() <= to {
			b.WriteString(group.Text())
		}
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			b.WriteString(lit.Value + "\n")
		}
		return true
	})
	return b.String()
}

// mostScripts is the maximum number of scripts listed for a rule and directory.
const mostScripts = 5

// rulesPage returns docs/rules.md.
func rulesPage(t *testing.T) string {
	rules, found, code := readRules(t), proofs(t), code(t)
	var b strings.Builder
	b.WriteString(rulesIntro)
	for _, r := range rules {
		if len(r.sources) == 0 {
			fmt.Fprintf(&b, "\n## %s. %s\n", r.id, r.sentence)
			continue
		}
		if len(found[r.id]) == 0 {
			t.Errorf("no test names rule %s: %s", r.id, r.sentence)
		}
		if len(code[r.id]) == 0 {
			t.Errorf("no code cites rule %s, at the function that implements it: %s", r.id, r.sentence)
		}
		from, differs := slices.Clone(r.sources), ""
		if i := slices.Index(from, "differs"); i >= 0 {
			from, differs = slices.Delete(from, i, i+1), "; "+ruleSources["differs"]
		}
		for i := range from {
			from[i] = ruleSources[from[i]]
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n*From %s%s.*\n\n", r.id, r.sentence, strings.Join(from, "; "), differs)
		for _, file := range code[r.id] {
			fmt.Fprintf(&b, "- [%s](../%[1]s)\n", file)
		}
		writeProofs(&b, found[r.id])
	}
	return b.String()
}

const rulesIntro = `# Rules

What olmkit holds to be true, each rule in one sentence, with the files whose comments
cite it and the tests that prove it. Reasons and findings cite rules by these ids. This
page is made from [rules.tsv](rules.tsv) and from the files of the repository; ` + "`go test\n-run Rules -update .`" + ` makes it again.
`

// writeProofs lists the tests of one rule: functions by file, scripts by directory.
func writeProofs(b *strings.Builder, list []proof) {
	for i := 0; i < len(list); {
		at, script := list[i].file, strings.HasSuffix(list[i].file, ".txtar")
		if script {
			at = path.Dir(at)
		}
		var names []string
		for ; i < len(list); i++ {
			p := list[i]
			if isScript := strings.HasSuffix(p.file, ".txtar"); isScript != script || script && path.Dir(p.file) != at || !script && p.file != at {
				break
			}
			if script {
				names = append(names, fmt.Sprintf("[%s](../%s)", p.test, p.file))
			} else {
				names = append(names, "`"+p.test+"`")
			}
		}
		if n := len(names) - mostScripts; script && n > 0 {
			names = append(names[:mostScripts], "and more")
		}
		fmt.Fprintf(b, "- [%s](../%s): %s\n", at, at, strings.Join(names, ", "))
	}
}

// TestRulesPage checks that every rule is cited in code and named by a test, and that docs/rules.md lists both. The
// page may omit new files and tests, so that two changes that each add a test do not conflict, but everything that it
// lists must be true.
func TestRulesPage(t *testing.T) {
	const file = "docs/rules.md"
	page := rulesPage(t)
	if golden.Update() {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	haveText, haveLists := splitPage(string(have))
	wantText, wantLists := splitPage(page)
	if diff := gocmp.Diff(haveText, wantText); diff != "" {
		t.Errorf("%s is out of date (go test -run Rules -update . updates it):\n%s", file, diff)
	}
	for id, have := range haveLists {
		for what, list := range map[string][]string{"test": have.proofs, "code": have.code} {
			if len(list) == 0 {
				t.Errorf("%s lists no %s for rule %s (go test -run Rules -update . updates it)", file, what, id)
			}
		}
		for _, p := range have.proofs {
			if !slices.Contains(wantLists[id].proofs, p) && !named(t, id, p) {
				t.Errorf("%s lists %s for rule %s, which it does not name (go test -run Rules -update . updates it)", file, p, id)
			}
		}
		for _, f := range have.code {
			if !slices.Contains(wantLists[id].code, f) {
				t.Errorf("%s lists %s for rule %s, which it does not cite (go test -run Rules -update . updates it)", file, f, id)
			}
		}
	}
}

// A ruleLists is the list of code and tests for a rule.
type ruleLists struct{ code, proofs []string }

// splitPage splits a rules page into its text and the lists for each rule.
func splitPage(page string) (text string, lists map[string]ruleLists) {
	lists = map[string]ruleLists{}
	id := ""
	for line := range strings.Lines(page) {
		at, names, ok := strings.Cut(strings.TrimPrefix(line, "- ["), "](../")
		if !strings.HasPrefix(line, "- [") || !ok {
			text += line
			if title, ok := strings.CutPrefix(line, "### "); ok {
				id = strings.TrimSpace(title)
				lists[id] = ruleLists{}
			}
			continue
		}
		x := lists[id]
		tests := proofName.FindAllStringSubmatch(names, -1)
		for _, m := range tests {
			x.proofs = append(x.proofs, at+" "+m[1]+m[2])
		}
		if len(tests) == 0 {
			x.code = append(x.code, at)
		}
		lists[id] = x
	}
	return text, lists
}

var proofName = regexp.MustCompile("`(\\w+)`|\\[([^]]+)\\]\\(")

// named reports whether the script p names the rule id. The page need not list it, because it lists at most
// mostScripts scripts.
func named(t *testing.T, id, p string) bool {
	dir, script, _ := strings.Cut(p, " ")
	return slices.Contains(proofs(t)[id], proof{dir + "/" + script + ".txtar", script})
}

// TestRulesAreKnown checks that no file cites a rule that does not exist.
func TestRulesAreKnown(t *testing.T) {
	known := map[string]bool{}
	for _, r := range readRules(t) {
		known[r.id] = true
	}
	// A citation is in parentheses, or is a whole comment.
	cited := regexp.MustCompile(`(?m)(?:\(|^)([A-HKS][1-9][0-9]{0,2}(, [A-HKS][1-9][0-9]{0,2})*)(?:\)|$)`)
	walkGo(t, ".", false, func(name string, file *ast.File) {
		for _, group := range file.Comments {
			for _, m := range cited.FindAllStringSubmatch(group.Text(), -1) {
				for _, id := range strings.Split(m[1], ", ") {
					if !known[id] {
						t.Errorf("%s cites rule %s, which docs/rules.tsv does not have", name, id)
					}
				}
			}
		}
	})
}
