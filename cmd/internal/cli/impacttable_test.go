package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/impact"
)

// TestImpactTable checks which upgrades the text about a catalog lists below the numbers.
func TestImpactTable(t *testing.T) {
	edge := func(n int, verdict impact.Verdict, codes ...fbc.Code) edgeImpact {
		return edgeImpact{From: fmt.Sprint("demo.v", n), To: fmt.Sprint("demo.v", n+1), Verdict: verdict, Codes: codes}
	}
	p := packageImpact{Package: "demo", Edges: []edgeImpact{
		edge(1, impact.Safe), edge(2, impact.Look, "impact-permission"), {From: "demo.v3", To: "demo.v4", Error: "no manifests"},
		edge(4, impact.Breaks, "impact-crd-unsafe", "impact-permission"),
	}, Unavailable: 1}
	for range mostUnsafe + 1 {
		p.Edges = append(p.Edges, edge(5, impact.Breaks, "impact-selector"))
	}
	text := func(named bool) string {
		var b strings.Builder
		if err := (&impactTable{OLM: "v1", Packages: []packageImpact{p}, named: named}).text(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	all, named := text(false), text(true)
	for _, want := range []string{
		"demo     demo.v4  demo.v5  breaks: impact-crd-unsafe\n", "\nand 2 more upgrades that break something; --package PACKAGE", "\nimpact-crd-unsafe: a CRD changes incompatibly\nimpact-selector: ",
		"\nTo see 1 upgrade with the verdict look, add --package PACKAGE.\n", "\n1 upgrade not compared; -o json has the reasons.",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("lacks %q:\n%s", want, all)
		}
	}
	if strings.Count(all, "breaks: ") != mostUnsafe || strings.Contains(all, "look: ") || strings.Contains(all, "impact-permission") {
		t.Error(all)
	}
	if strings.Count(named, "breaks: ") != mostUnsafe+2 || !strings.Contains(named, "demo     demo.v2  demo.v3  look: impact-permission\n") || strings.Contains(named, "more upgrade") || strings.Contains(named, "verdict look") {
		t.Error(named)
	}
	if strings.Index(named, "look: ") < strings.LastIndex(named, "breaks: ") {
		t.Errorf("what breaks is not first:\n%s", named)
	}
}
