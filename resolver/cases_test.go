package resolver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// TestCases runs testdata/cases: each file is named for the rule that it shows
// and holds catalogs, a problem and the answer. A problem that does not name the
// semantics of constraints is solved in both, and where they differ both
// answers are there. The oracle of the generated problems judges each answer
// too.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(a.Comment, []byte("# ")) {
				t.Error("the case does not begin with its reason")
			}
			p := caseProblem(t, a)
			var got string
			if p.Options.Semantics != "" {
				got = caseAnswer(t, p)
			} else {
				got = caseAnswer(t, p)
				p.Options.Semantics = resolver.PerBundle
				if other := caseAnswer(t, p); other != got {
					got = "documented:\n" + indent(got) + "per-bundle:\n" + indent(other)
				}
			}
			want := &a.Files[len(a.Files)-1]
			if want.Name != "want" {
				t.Fatalf("the last file is %s, not want", want.Name)
			}
			if *update {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Errorf("-want +got, -update rewrites:\n%s", diff)
			}
		})
	}
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t") + "\n"
}

// caseProblem returns the problem of a case. A catalog's dir is the name of a
// file of the case, without .yaml; without catalogs there is one, community in
// the namespace olm, from catalog.yaml.
func caseProblem(t *testing.T, a *txtar.Archive) resolver.Problem {
	t.Helper()
	text := map[string]string{}
	var p resolver.Problem
	for _, f := range a.Files {
		name, isYAML := strings.CutSuffix(f.Name, ".yaml")
		if !isYAML {
			continue
		}
		if name != "problem" {
			text[name] = string(f.Data)
			continue
		}
		data, err := yaml.YAMLToJSONStrict(f.Data)
		if err != nil {
			t.Fatal(err)
		}
		for q, err := range document.Read[resolver.Problem](bytes.NewReader(data)) {
			if err != nil {
				t.Fatal(err)
			}
			p = q
		}
	}
	if p.Catalogs == nil {
		p.Catalogs = []resolver.Catalog{{Name: "community", Namespace: "olm", Dir: "catalog"}}
	}
	for i := range p.Catalogs {
		c := &p.Catalogs[i]
		if fbc, ok := text[c.Dir]; ok {
			c.FBC, c.Dir = &fbc, ""
		}
	}
	return p
}

// caseAnswer solves a problem, has the answer judged, and tells it.
func caseAnswer(t *testing.T, p resolver.Problem) string {
	t.Helper()
	p.Catalogs = slices.Clone(p.Catalogs)
	if err := p.Open(context.Background(), nil); err != nil {
		return "error: " + err.Error() + "\n"
	}
	sol, err := resolver.Resolve(context.Background(), p)
	var no *resolver.Conflict
	if err != nil && !errors.As(err, &no) {
		return "error: " + err.Error() + "\n"
	}
	if msg := newOracle(t, p).judge(sol, err); msg != "" {
		t.Errorf("the oracle says: %s", msg)
	}
	var b strings.Builder
	if err != nil {
		b.WriteString("no solution:\n")
		for i, c := range no.Cores {
			if i > 0 {
				b.WriteString("and:\n")
			}
			for _, f := range c.Facts {
				fmt.Fprintf(&b, "\t%s\n", caseFact(f))
			}
		}
		return b.String()
	}
	for _, s := range sol.Selected {
		fmt.Fprintf(&b, "install %s from %s/%s, channel %s", s.Name, s.Catalog, s.CatalogNamespace, s.Channel)
		if s.Replaces != "" {
			fmt.Fprintf(&b, " replaces %s", s.Replaces)
		}
		b.WriteByte('\n')
	}
	for _, s := range sol.Stayed {
		fmt.Fprintf(&b, "keep %s: %s", s.Name, s.Reason)
		for _, r := range s.Blocked {
			fmt.Fprintf(&b, " %s", r.Name)
		}
		b.WriteByte('\n')
	}
	for _, f := range sol.Faults {
		fmt.Fprintf(&b, "fault: %s: %s\n", f.Rule, f.Error)
	}
	if b.Len() == 0 {
		return "nothing to do\n"
	}
	return b.String()
}

// caseFact tells a fact by its code and what tells it from others; the words for
// people are another test's.
func caseFact(f resolver.Fact) string {
	s := string(f.Code())
	switch f := f.(type) {
	case *resolver.Subscribed:
		s += " " + f.Subscription.Name + ":"
		for _, c := range f.Candidates {
			s += " " + c.Name
		}
	case *resolver.Unavailable:
		s += fmt.Sprintf(" %s: no such %s, but %q", f.Subscription.Name, f.What, f.Known)
		if f.Err != nil {
			s += ": " + f.Err.Error()
		}
	case *resolver.MustStay:
		s += " " + f.Operator.Name
	case *resolver.Requires:
		s += fmt.Sprintf(" %s: %s", f.Bundle.Name, f.Requirement)
		if m := f.Requirement.Message(); m != "" {
			s += fmt.Sprintf(" %q", m)
		}
	case *resolver.OnePerPackage:
		s += " " + f.Package
	case *resolver.OneProvider:
		s += " " + f.API.String()
	case *resolver.Replaced:
		s += " " + f.Operator.Name + " by " + f.Bundle.Name
	case *resolver.Prohibited:
		s += " " + f.Bundle.Name
	case *resolver.Unusable:
		s += " " + f.Bundle.Name + ": " + f.Err.Error()
	}
	return s
}
