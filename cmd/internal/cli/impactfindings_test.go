package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/impact"
)

// TestCatalogMarkdown checks that a comment about a large catalog fits into a pull request, lists packages whose upgrades
// break something first, and counts what it leaves out.
func TestCatalogMarkdown(t *testing.T) {
	table := &impactTable{OLM: "v1"}
	for n := range 2000 {
		p := packageImpact{Package: fmt.Sprintf("package-with-a-long-name-%04d", n)}
		for k := range 10 {
			e := edgeImpact{From: fmt.Sprintf("v%d", k), To: fmt.Sprintf("v%d", k+1), Verdict: impact.Safe}
			switch {
			case n >= 1950 && k < 9:
				e.Verdict, e.Codes = impact.Breaks, []fbc.Code{"impact-crd-unsafe", "impact-permission"}
				p.Breaks++
			case n >= 1000:
				e.Verdict, e.Codes = impact.Look, []fbc.Code{"impact-permission"}
				p.Look++
			default:
				p.Safe++
			}
			p.Edges = append(p.Edges, e)
		}
		table.Packages = append(table.Packages, p)
	}
	var b strings.Builder
	if err := table.markdown(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if len(got) > 65536 {
		t.Errorf("the comment has %d characters", len(got))
	}
	for _, want := range []string{
		"## Upgrades with OLM v1: 450 of 20000 break something\n",
		"|---|---|---|---|---|---|\n| package-with-a-long-name-1950 | 10 | 0 | 1 | 9 | 0 |\n",
		" more packages; -o json has all\n",
		"\n<details><summary>package-with-a-long-name-1999: 9</summary>\n",
		"- v0 to v1: [impact-crd-unsafe]\n",
		"\n### Upgrades to read before approving them\n",
		"\n<details><summary>package-with-a-long-name-1950: 1</summary>\n",
		" more upgrades like these; -o json has all\n",
		"\n[impact-crd-unsafe]: https://",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the comment lacks %q", want)
		}
	}
	if strings.Contains(got, "a-long-name-0999") {
		t.Error("the comment lists a package whose upgrades are safe before those that are not")
	}
	listed := strings.Count(got, "\n- v")
	for _, m := range regexp.MustCompile(`\nand (\d+) more upgrades?|\n- and (\d+) more`).FindAllStringSubmatch(got, -1) {
		n, _ := strconv.Atoi(m[1] + m[2])
		listed += n
	}
	if listed != 10000 {
		t.Errorf("%d upgrades are listed or counted, want 10000", listed)
	}
}
