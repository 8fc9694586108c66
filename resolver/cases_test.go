package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/internal/conformance"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/fact"
)

// conformanceDir holds the cases of the project; its README.md describes them.
const conformanceDir = "../testdata/conformance"

func conformanceCases(t testing.TB) []*conformance.Case {
	t.Helper()
	cases, err := conformance.Read(conformanceDir)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestCases answers the cases of testdata/conformance. A problem that does not name the
// semantics of constraints is solved in both; if the answers differ, the file has both. An
// oracle that tries everything also judges each answer.
func TestCases(t *testing.T) {
	for _, c := range conformanceCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			got := caseAnswer(t, c)
			if golden.Update() && !generatedCase(c) {
				c.Want = got
				if err := c.Rewrite(); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(c.Want, got); diff != "" {
				t.Errorf("%s shows %s; its answer (-want +got; -update rewrites it):\n%s", c.Name, strings.Join(c.Rules, ", "), diff)
			}
		})
	}
}

// generatedCase reports whether a case was made by the generator. Its answer is that of the oracle, which lists the
// bundles to install and the operators that stay, without reasons.
func generatedCase(c *conformance.Case) bool { return strings.HasPrefix(c.Name, "generated/") }

// caseAnswer answers a case.
func caseAnswer(t *testing.T, c *conformance.Case) string {
	t.Helper()
	if c.Request != nil {
		return selectAnswerOf(t, *c.Request)
	}
	p := *c.Problem
	if p.Options.Semantics != "" {
		return resolveAnswer(t, p, generatedCase(c))
	}
	documented := resolveAnswer(t, p, generatedCase(c))
	p.Options.Semantics = resolver.PerBundle
	return conformance.Both(documented, resolveAnswer(t, p, generatedCase(c)))
}

// resolveAnswer solves a problem, lets the oracle judge the answer, and returns it as text. The short form omits facts
// and faults.
func resolveAnswer(t *testing.T, p resolver.Problem, short bool) string {
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
		t.Errorf("the oracle disagrees: %s", msg)
	}
	text := solutionText(sol, no, short)
	slices.Reverse(p.Catalogs) // D15
	p.Installed = reversed(p.Installed)
	if p.Options.SubscriptionOrder != resolver.AsGiven {
		p.Subscriptions = reversed(p.Subscriptions)
	}
	sol, err = resolver.Resolve(context.Background(), p)
	errors.As(err, &no)
	if again := solutionText(sol, no, short); again != text {
		t.Errorf("D15: reversing the lists of the problem changes the answer (-want +got):\n%s", cmp.Diff(text, again))
	}
	return text
}

func reversed[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// solutionText returns a solution as text, or the conflict if there is none.
func solutionText(sol *resolver.Solution, no *resolver.Conflict, short bool) string {
	switch {
	case sol == nil && short:
		return conformance.Refused
	case sol == nil:
		return coresText(no)
	}
	text := conformance.Installs(sol.Selected) + conformance.Kept(sol.Stayed)
	for _, f := range sol.Faults {
		if !short {
			text += fmt.Sprintf("fault: %s: %s\n", f.Rule, f.Error)
		}
	}
	if text == "" {
		return conformance.Nothing
	}
	return text
}

// coresText returns the facts of a conflict.
func coresText(no *resolver.Conflict) string {
	text := "no solution:\n"
	for i, c := range no.Cores {
		if i > 0 {
			text += "and:\n"
		}
		for _, f := range c.Facts {
			text += "\t" + caseFact(f) + "\n"
		}
	}
	return text
}

// TestCasesAsOLM compares the answers per bundle with those of the running OLM, which module compare records. They may
// differ only if a rule states a difference.
func TestCasesAsOLM(t *testing.T) {
	differs := map[string]bool{}
	for id, sources := range ruleTable(t) {
		differs[id] = strings.Contains(sources, "differs")
	}
	asked, agree := 0, 0
	for _, c := range conformanceCases(t) {
		if c.OLM == "" {
			continue
		}
		p := *c.Problem
		p.Options.Semantics = resolver.PerBundle
		sol, err := resolver.Resolve(context.Background(), open(t, p))
		got := conformance.Refused
		if err == nil {
			got = conformance.Installs(sol.Selected)
		}
		asked++
		switch {
		case c.OLMGave(got):
			agree++
		case !slices.ContainsFunc(c.Rules, func(id string) bool { return differs[id] }):
			t.Errorf("%s: none of the rules %s allows the answer to differ from OLM's:\n%s", c.Name, strings.Join(c.Rules, ", "), cmp.Diff(c.OLM, got))
		}
	}
	t.Logf("OLM answered %d cases, %d of them with the same answer", asked, agree)
}

// ruleTable returns the sources of each rule in docs/rules.tsv.
func ruleTable(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/rules.tsv")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if f := strings.Split(line, "\t"); len(f) == 3 && f[1] != "" {
			table[f[0]] = f[1]
		}
	}
	return table
}

// caseFact returns the code of a fact and the values that distinguish it from others. The English text is tested
// elsewhere.
func caseFact(f fact.Fact) string {
	s := string(f.Code())
	switch f := f.(type) {
	case *fact.Subscribed:
		s += " " + f.Subscription.Name + ":"
		for _, c := range f.Candidates {
			s += " " + c.Name
		}
	case *fact.Unavailable:
		s += fmt.Sprintf(" %s: no such %s, but %q", f.Subscription.Name, f.What, f.Known)
		if f.Err != nil {
			s += ": " + f.Err.Error()
		}
	case *fact.MustStay:
		s += " " + f.Operator.Name
	case *fact.Requires:
		s += fmt.Sprintf(" %s: %s", f.Bundle.Name, f.Requirement)
		if m := f.Requirement.Message(); m != "" {
			s += fmt.Sprintf(" %q", m)
		}
	case *fact.OnePerPackage:
		s += " " + f.Package
	case *fact.OneProvider:
		s += " " + f.API.String()
	case *fact.Replaced:
		s += " " + f.Operator.Name + " by " + f.Bundle.Name
	case *fact.Prohibited:
		s += " " + f.Bundle.Name
	case *fact.Unusable:
		s += " " + f.Bundle.Name + ": " + f.Err.Error()
	}
	return s
}
