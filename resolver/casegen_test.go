package resolver_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/conformance"
	"github.com/olmkit/olmkit/resolver"
)

var generate = flag.Bool("generate", false, "regenerate the generated cases of testdata/conformance")

// removable are the rules that the oracle can switch off. A generated case shows the rules that change its answer when
// switched off.
var removable = []string{
	"A7", "B2", "B3", "B4", "D2", "D7", "D8", "D9", "D10", "D11", "D12", "D19", "D20",
	"H1", "H3", "H4", "H5", "H7", "H10", "H12", "H13", "H15", "H22", "H23", "H25", "H26", "H27", "H28",
}

// removableInV1 are the rules that the oracle of selections can switch off.
var removableInV1 = []string{"A8", "B2", "B8", "C1", "C2", "C3", "C4", "C5", "C6", "H16"}

// Bounds on generated cases.
const (
	perRule     = 8    // cases per rule
	generations = 2500 // seeds to try
	mostText    = 4500 // bytes per case
)

// A caseMaker returns the case of a seed as the text of its file, and the rules that it shows. ok is false if it shows
// none.
type caseMaker struct {
	kind string
	make func(t *testing.T, seed uint64) (text string, rules []string, ok bool)
}

var caseMakers = []caseMaker{{"classic", classicCase}, {"v1", v1Case}}

// TestGeneratedCases checks that the generated cases match their seeds, the answers of the
// oracle, and the rules that these depend on. With -generate it regenerates them (make
// conformance).
func TestGeneratedCases(t *testing.T) {
	dir := filepath.Join(conformanceDir, "generated")
	if *generate {
		writeGenerated(t, dir)
		return
	}
	for _, m := range caseMakers {
		files, err := filepath.Glob(filepath.Join(dir, m.kind+"-*.txtar"))
		if err != nil || len(files) < 50 {
			t.Fatalf("%d cases of %s: %v", len(files), m.kind, err)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				var seed uint64
				if _, err := fmt.Sscanf(filepath.Base(file), m.kind+"-%d.txtar", &seed); err != nil {
					t.Fatal(err)
				}
				a, err := txtar.ParseFile(file)
				if err != nil {
					t.Fatal(err)
				}
				// OLM's answers do not come from the generator.
				a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return f.Name == "olm" })
				want, _, _ := m.make(t, seed)
				if diff := gocmp.Diff(want, string(txtar.Format(a))); diff != "" {
					t.Errorf("differs from the generated case (-want +file; run make conformance to regenerate it):\n%s", diff)
				}
			})
		}
	}
}

// writeGenerated makes cases until each rule has enough.
func writeGenerated(t *testing.T, dir string) {
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, m := range caseMakers {
		shown := map[string]int{}
		made := 0
		for seed := range uint64(generations) {
			text, rules, ok := m.make(t, seed)
			if !ok || len(text) > mostText || !slices.ContainsFunc(rules, func(id string) bool { return shown[id] < perRule }) {
				continue
			}
			for _, id := range rules {
				shown[id]++
			}
			made++
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%04d.txtar", m.kind, seed)), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%d cases of %s show %v", made, m.kind, shown)
	}
}

// classicCase makes a problem that is solved in both semantics.
func classicCase(t *testing.T, seed uint64) (text string, rules []string, ok bool) {
	p := randomProblem(seed)
	p.Options.Semantics = ""
	tame(&p)
	if p.Policies != nil || p.Options.SubscriptionOrder == resolver.AsGiven {
		return "", nil, false
	}
	documented, perBundle, ok := oracleAnswers(t, p, "")
	if !ok {
		return "", nil, false
	}
	if documented != perBundle {
		rules = append(rules, "D5", "D6")
	}
	for _, id := range removable {
		d, b, ok := oracleAnswers(t, p, id)
		if ok && (d != documented || b != perBundle) {
			rules = append(rules, id)
		}
	}
	// If OLM fails because of a bundle that cannot be read, the case must show that rule.
	if odd := slices.ContainsFunc(newOracle(t, p).all, func(c *candidate) bool { return c.odd }); odd && !slices.Contains(rules, "H7") {
		return "", nil, false
	}
	files := make([]txtar.File, 0, 4)
	for i := range p.Catalogs {
		c := &p.Catalogs[i]
		files = append(files, txtar.File{Name: c.Name + ".json", Data: []byte(*c.FBC)})
		c.FBC, c.Dir = nil, c.Name
	}
	return generatedText(seed, rules, append(files, yamlFile(t, "problem.yaml", p)), conformance.Both(documented, perBundle)), rules, len(rules) > 0
}

// tame removes input that the running OLM always reads differently: slashes in the names of
// channels (H14), and packages in constraints by the key name (H7).
func tame(p *resolver.Problem) {
	plain := strings.NewReplacer(`"x/y"`, `"beta"`, `"package":{"name":`, `"package":{"packageName":`, `\u003c`, "<", `\u003e`, ">")
	for i := range p.Catalogs {
		text := plain.Replace(*p.Catalogs[i].FBC)
		p.Catalogs[i].FBC = &text
	}
	for i := range p.Subscriptions {
		if p.Subscriptions[i].Channel == "x/y" {
			p.Subscriptions[i].Channel = "beta"
		}
	}
	for i := range p.Installed {
		list := slices.Clone(p.Installed[i].Properties)
		for j := range list {
			list[j].Value = []byte(plain.Replace(string(list[j].Value)))
		}
		p.Installed[i].Properties = list
	}
}

// oracleAnswers returns the answers of the oracle in both semantics, without a rule. ok is
// false if more than one answer would be right.
func oracleAnswers(t *testing.T, p resolver.Problem, off string) (documented, perBundle string, ok bool) {
	documented, ok = oracleWithout(t, p, off).text()
	p.Options.Semantics = resolver.PerBundle
	perBundle, ok2 := oracleWithout(t, p, off).text()
	return documented, perBundle, ok && ok2
}

// text returns the answer of the oracle. ok is false if a bundle upgrades several operators.
func (o *oracle) text() (text string, ok bool) {
	best, solved := o.best()
	if !solved {
		return conformance.Refused, true
	}
	ok = true
	var list []resolver.Selected
	best.each(func(i int) bool {
		c := o.all[i]
		if c.catalog < 0 {
			return true
		}
		s := resolver.Selected{
			Name: c.ref.Name, Channel: c.ref.Channel, Package: c.ref.Package, Replaces: c.entry.Replaces,
			Catalog: c.ref.Catalog.Name, CatalogNamespace: c.ref.Catalog.Namespace,
		}
		ok = ok && c.replaces&(c.replaces-1) == 0
		c.replaces.each(func(in int) bool {
			if o.off != "H4" {
				s.Replaces = o.all[in].ref.Name
			}
			return true
		})
		list = append(list, s)
		return true
	})
	text = conformance.Installs(list) + conformance.Kept(o.stays(best))
	if text == "" {
		text = conformance.Nothing
	}
	return text, ok
}

func yamlFile(t *testing.T, name string, v any) txtar.File {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return txtar.File{Name: name, Data: data}
}

// generatedText returns the text of a case, with sorted rules.
func generatedText(seed uint64, rules []string, files []txtar.File, want string) string {
	slices.SortFunc(rules, compareRules)
	a := &txtar.Archive{
		Comment: fmt.Appendf(nil, "# %s: generated from seed %d. Without any of these rules the oracle gives another answer.\n", strings.Join(rules, ", "), seed),
		Files:   append(files, txtar.File{Name: "want", Data: []byte(want)}),
	}
	return string(txtar.Format(a))
}

// compareRules orders the ids of rules.
func compareRules(a, b string) int {
	return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
