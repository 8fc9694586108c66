package browsertest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

// withManifests writes the catalog with manifests that the tests of "olmkit report" use, and returns its name.
func withManifests(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../cli/testdata/script/report.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "-- catalog/catalog.yaml --\n")
	if !ok {
		t.Fatal("the script has no catalog")
	}
	catalog, _, _ := strings.Cut(rest, "\n-- ")
	return write(t, "catalog.yaml", catalog+"\n")
}

// TestImpact checks that the page shows the verdicts on upgrades, in the drawing, the table and the path of a version.
func TestImpact(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, withManifests(t), "--impact"), "#/package/catalog/demo/stable/demo.v1.0.0")
	for script, want := range map[string]string{
		`String(document.querySelectorAll(".edge.breaks").length > 1)`:                                    "true", // one of them is in the legend
		`document.querySelector(".way-told.classic li .tag").textContent`:                                 "breaks",
		`document.querySelector(".way-told.classic li .tag + .why").textContent.slice(0, 17)`:             "impact-crd-unsafe",
		`document.querySelector("tbody tr:last-child td:last-child .tag.breaks").textContent`:             "breaks",
		`getComputedStyle(document.querySelector("svg .edge.breaks")).strokeWidth`:                        "2.4px",
		`[...document.querySelectorAll(".legend li")].some((x) => x.textContent.includes("breaks")) + ""`: "true",
	} {
		if got := eval[string](b, script); got != want {
			t.Errorf("%s is %q, want %q", script, got, want)
		}
	}
	b.open(makePage(t, withManifests(t), "--avoid", "breaks"), "#/package/catalog/demo/stable/demo.v1.0.0")
	if got := eval[string](b, `document.querySelector(".way-told.classic .around").textContent`); !strings.HasPrefix(got, "No path leads to the head without an upgrade that breaks something.") || !strings.Contains(got, "breaks") {
		t.Errorf("with --avoid, the page shows %q", got)
	}
	b.open(makePage(t, withManifests(t)), "#/package/catalog/demo/stable/demo.v1.0.0")
	if n := eval[int](b, `document.querySelectorAll(".edge.breaks, .tag.breaks").length`); n != 0 {
		t.Errorf("without --impact, %d elements show verdicts", n)
	}
	b.quiet()
}

// TestReport checks that the page of "olmkit report" shows what it should without a script, and fits a narrow window.
func TestReport(t *testing.T) {
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), []string{"report", withManifests(t), "-o", "html", "--on", "2026-03-31"}, strings.NewReader(""), &out, &errs); code != 0 {
		t.Fatalf("olmkit report ends with %d: %s", code, &errs)
	}
	b := newTab(t)
	b.size(375, 812)
	b.do(chromedp.Navigate("file://" + write(t, "report.html", out.String())))
	b.script(`for (const d of document.querySelectorAll("details")) d.open = true`)
	for script, want := range map[string]string{
		`String([...document.querySelectorAll("h3")].some((h) => h.textContent.startsWith("Dangerous permissions")))`:                      "true",
		`String([...document.querySelectorAll("li")].some((x) => x.textContent.includes("which Kubernetes 1.25 and later do not serve")))`: "true",
		`String(document.scripts.length)`:                                   "0",
		`String(document.documentElement.scrollWidth <= innerWidth)`:        "true",
		`document.querySelector("h1").textContent.includes("catalog") + ""`: "true",
	} {
		if got := eval[string](b, script); got != want {
			t.Errorf("%s is %q, want %q", script, got, want)
		}
	}
	b.quiet()
}
