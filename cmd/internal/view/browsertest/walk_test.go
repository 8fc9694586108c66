package browsertest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// TestKeys goes from the search to the upgrade paths of a version without a mouse.
func TestKeys(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, "--sample"), "")
	focus := func(want string) {
		t.Helper()
		var got string
		into(b, `(() => { const e = document.activeElement; return e.id || e.getAttribute("aria-label") || e.textContent; })()`, &got)
		if !strings.HasPrefix(got, want) {
			t.Fatalf("the focus is on %q, want %q", got, want)
		}
	}
	b.press("/")
	focus("search")
	b.press("e", "t", "c", "d")
	if got := b.text("#found"); got != "2 packages" {
		t.Errorf("the search says %q", got)
	}
	b.press(kb.ArrowDown)
	focus("etcd")
	b.press(kb.ArrowDown)
	focus("etcd-backup-tool")
	b.press(kb.ArrowUp, kb.Enter)
	b.until(`document.querySelector("main h1").textContent`, "etcd")
	focus("main")
	b.press(kb.Tab, kb.Tab) // the two channels
	focus("stable")
	b.press(kb.Tab)
	focus("etcdoperator.v0.9.4, head")
	b.press(kb.ArrowDown, kb.ArrowDown, kb.ArrowDown)
	focus("etcdoperator.v0.9.0")
	b.press(kb.Enter)
	if got := b.text("#version"); got != "0.9.0" {
		t.Errorf("picked %q", got)
	}
	if got, want := b.text("#spoken"), "0.9.0: classic OLM reaches the head in 2 steps; OLM v1 reaches the head in 2 steps"; got != want {
		t.Errorf("a screen reader hears %q, want %q", got, want)
	}
	focus("etcdoperator.v0.9.0")
	var pressed, arcs int
	into(b, `document.querySelectorAll(".node[aria-pressed=true]").length`, &pressed)
	into(b, `document.querySelectorAll(".ways .way").length`, &arcs)
	if pressed != 1 || arcs != 4 {
		t.Errorf("%d versions are pressed and %d steps drawn, want 1 and 4", pressed, arcs)
	}
	var hash string
	into(b, "location.hash", &hash)
	if hash != "#/package/sample/etcd/stable/etcdoperator.v0.9.0" {
		t.Errorf("the address is %s", hash)
	}
	b.press("+", "-", "0", kb.Escape)
	into(b, `document.querySelectorAll(".node[aria-pressed=true]").length`, &pressed)
	if pressed != 0 {
		t.Error("escape does not let go")
	}
	b.press("/", kb.Escape)
	if got := b.text("#found"); got != "7 packages" {
		t.Errorf("after escape the search says %q", got)
	}
	b.quiet()
}

// TestWords checks that descriptions of packages are shown and searchable. Matches in names come before APIs, and
// these before descriptions.
func TestWords(t *testing.T) {
	pkg := func(name, more, meta string) string {
		return fmt.Sprintf(`{"schema":"olm.package","name":%[1]q,"defaultChannel":"c"%[2]s}
{"schema":"olm.channel","package":%[1]q,"name":"c","entries":[{"name":"%[1]s.v1.0.0"}]}
{"schema":"olm.bundle","package":%[1]q,"name":"%[1]s.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":"1.0.0"}}%[3]s]}
`, name, more, meta)
	}
	catalog := write(t, "small.json",
		pkg("a-told", `,"description":"Some say that it stores rows.\n\nAnd columns, too."`, "")+
			pkg("b-api", "", `,{"type":"olm.gvk","value":{"group":"rows.example.com","version":"v1","kind":"Row"}}`)+
			pkg("c-titled", "", `,{"type":"olm.csv.metadata","value":{"displayName":"Rows & More","provider":{"name":"ACME"},"keywords":["table"],"annotations":{"description":"Keeps them."}}}`)+
			pkg("rows", "", ""))
	b := newTab(t)
	b.open(makePage(t, catalog), "#/packages")
	if got := eval[string](b, `document.querySelector("main tbody").rows[2].innerText`); !strings.Contains(got, "Rows & More") {
		t.Errorf("the table of packages says %q", got)
	}
	found := func(words string) string {
		t.Helper()
		b.script(fmt.Sprintf(`(() => { const s = document.getElementById("search"); s.value = %q; s.dispatchEvent(new Event("input")); return true; })()`, words))
		return eval[string](b, `[...document.querySelectorAll("#packages a")].map((a) => [...a.children].map((c) => c.textContent).join(": ")).join("; ")`)
	}
	for _, tt := range []struct{ words, want string }{
		{"rows", "rows; c-titled: Rows & More; b-api: Row (rows.example.com/v1); a-told: Some say that it stores rows. And columns, too."},
		{"TABLE", "c-titled: table"},
		{"acme keeps", "c-titled: Keeps them."},
		{"c- acme", "c-titled: ACME"},
		{"columns", "a-told: Some say that it stores rows. And columns, too."},
		{"nowhere", ""},
	} {
		if got := found(tt.words); got != tt.want {
			t.Errorf("the search for %q finds %q, want %q", tt.words, got, tt.want)
		}
	}
	if got := b.text("#found"); got != "no package matches" {
		t.Errorf("of nothing it says %q", got)
	}
	b.goTo("#/package/small/c-titled")
	for _, want := range []string{"Rows & More", "by ACME", "Keeps them."} {
		if got := b.text("main header"); !strings.Contains(got, want) {
			t.Errorf("the package says %q, and lacks %q", got, want)
		}
	}
	b.goTo("#/package/small/a-told")
	if got := eval[string](b, `document.querySelector(".about .prose").innerText`); got != "Some say that it stores rows.\n\nAnd columns, too." {
		t.Errorf("the description is %q", got)
	}
	b.quiet()
}

// TestWays checks that the page shows the same upgrade paths as the command line (B5).
func TestWays(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, "--sample"), "#/package/sample/etcd/stable/etcdoperator.v0.9.0")
	var told []string
	into(b, `[...document.querySelectorAll(".way-told")].map((s) => s.querySelector("h3").textContent + ": " + [...s.querySelectorAll("li")].map((l) => l.textContent).join("; "))`, &told)
	want := []string{
		"Classic OLM, channel stable: 0.9.2 (replaces in stable); 0.9.4 (replaces in stable)",
		"OLM v1, channel stable: ",
		"OLM v1, all channels: 0.9.4 (replaces in alpha, skipRange in alpha); 0.10.0 (replaces in alpha)",
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("the page tells %q, want %q", told, want)
	}
	if got := b.text(".way-told.v1 p"); got != "reaches the head in 2 steps, by the same path" {
		t.Errorf("of OLM v1 it says %q", got)
	}
}

// TestConflict checks that a conflict is explained as on the command line (D16).
func TestConflict(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, "--sample", "--package", "etcd:stable", "--package", "etcd-backup-tool", "--package", "argocd"), "")
	all := b.text("main")
	for _, want := range []string{
		"no solution",
		"subscription etcd-backup-tool cannot be satisfied",
		"at sample etcd-backup-tool/catalog.yaml:11, property 1",
		"a namespace can hold only one version of package etcd one-per-package",
		"set the channel of subscription etcd to alpha; then etcdoperator.v0.6.1 and etcd-backup-tool.v1.2.0 are installed",
		"What can be planned all the same",
		"argocd-operator.v0.7.0",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	b.quiet()
}

// TestReasons checks that a resolution is shown as a graph of reasons, and as an equivalent table (D17).
func TestReasons(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, "--sample", "--package", "grafana", "--package", "etcd:stable", "--installed", "etcd=0.9.0"), "")
	var names []string
	into(b, `[...document.querySelectorAll(".node")].map((n) => n.getAttribute("aria-label"))`, &names)
	for _, want := range []string{"subscription grafana, package grafana", "etcdoperator.v0.9.2, upgrade 0.9.0 to 0.9.2, channel stable of sample", "prometheusoperator.v0.56.3, install 0.56.3, channel beta of sample"} {
		if !strings.Contains(strings.Join(names, "\n"), want) {
			t.Errorf("no box %q among %q", want, names)
		}
	}
	if got := b.text(".edge-text"); !strings.HasPrefix(got, "requires package prometheus >=0.56.0") {
		t.Errorf("the line says %q", got)
	}
	// Enter opens the reasons of a box.
	b.script(`[...document.querySelectorAll(".node")].find((n) => n.getAttribute("aria-label").startsWith("prometheus")).focus(); true`)
	b.press(kb.Enter)
	var got string
	into(b, `document.activeElement.closest("details[open]")?.textContent ?? ""`, &got)
	for _, want := range []string{"satisfies package prometheus", "required by grafana-operator.v5.6.0", "grafana-operator.v5.6.0 was chosen for subscription grafana"} {
		if !strings.Contains(got, want) {
			t.Errorf("the reasons are %q, and lack %q", got, want)
		}
	}
	b.quiet()
}

// TestDifference checks that breaking changes are shown for both readings, and that the rest can be hidden (B7).
func TestDifference(t *testing.T) {
	old := write(t, "old.json", `{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v1.0.0"},{"name":"a.v1.1.0","replaces":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.1.0"}}]}`)
	new := write(t, "new.json", `{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v1.2.0","replaces":"a.v1.1.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.2.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.2.0"}}]}
{"schema":"olm.package","name":"b","defaultChannel":"c"}
{"schema":"olm.channel","package":"b","name":"c","entries":[{"name":"b.v1.0.0"}]}
{"schema":"olm.bundle","package":"b","name":"b.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}}]}`)
	b := newTab(t)
	b.open(makePage(t, new, "--diff", old), "")
	all := b.text("main")
	for _, want := range []string{"old → new", "1 version loses its path to the head in classic OLM", "1 package changed, 0 removed, 1 added", "packages addedb", "channel c: stranded now, with no path to the heada.v1.0.0", "bundles removed", "bundles addeda.v1.2.0", "channel c: heada.v1.2.0, was a.v1.1.0"} {
		if !strings.Contains(all, want) {
			t.Errorf("the page does not say %q in %q", want, all)
		}
	}
	b.script(`document.getElementById("only").click(); true`)
	if all := b.text(".diff"); strings.Contains(all, "bundles added") || !strings.Contains(all, "no path to the head") {
		t.Errorf("what breaks alone is %q", all)
	}
	b.goTo("#/package/new/a/c")
	if got := b.text(".node.head .marks"); got != "head · new" {
		t.Errorf("the head is marked %q", got)
	}
	b.quiet()
}

// TestStays checks that the page shows a version that OLM keeps although it has successors, and paths that form a
// cycle (B8, H2).
func TestStays(t *testing.T) {
	catalog := write(t, "small.json", `{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v1.2.0","replaces":"a.v1.1.0"},{"name":"a.v1.1.0","skipRange":">=1.0.0 <2.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.2.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.2.0"}}]}`)
	b := newTab(t)
	b.open(makePage(t, catalog), "#/package/small/a/c/a.v1.2.0")
	if got := b.text(".way-told.classic p"); got != "comes back to 1.2.0 and loops forever" {
		t.Errorf("of OLM it says %q", got)
	}
	if got := b.text(".way-told.v1 p"); got != "is at the head" {
		t.Errorf("of OLM v1 it says %q", got)
	}
	b.quiet()
}

// TestPartial checks that a partial plan is shown as such, with the conflict of the other parts.
func TestPartial(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, "--problem", partialProblem(t)), "")
	all := b.text("main")
	for _, want := range []string{"partly planned", "What can be planned all the same", "Conflict: subscription b cannot be satisfied", "lib.v1.0.0"} {
		if !strings.Contains(all, want) {
			t.Errorf("the page does not say %q in %q", want, all)
		}
	}
	if got := b.text(".tag.good"); got != "" {
		t.Error("the page calls a part solved")
	}
	// Two subscriptions and a requirement lead to two boxes.
	if got := eval[int](b, `document.querySelectorAll(".edge").length`); got != 3 {
		t.Errorf("%d lines, want 3", got)
	}
	// Bundles and subscriptions link to where they are shown.
	if got := eval[string](b, `[...document.querySelectorAll(".core a, .derivation a")].map((a) => a.textContent).join(" ")`); !strings.Contains(got, "b.v1.0.0") {
		t.Errorf("the derivation links %q", got)
	}
	b.moves(`[...document.querySelectorAll(".node.subscription")].find((n) => n.getAttribute("aria-label").startsWith("subscription lib")).dispatchEvent(new MouseEvent("click"))`)
	if got := eval[string](b, "location.hash"); got != "#/package/small/lib/c" {
		t.Errorf("the subscription leads to %s", got)
	}
	b.quiet()
}

// TestPrintKeepsOne checks that drawings of packages viewed earlier are not laid out again for printing.
func TestPrintKeepsOne(t *testing.T) {
	b := newTab(t)
	b.open(makePage(t, "--sample"), "#/packages")
	b.script(`window.listeners = 0; const add = window.addEventListener; window.addEventListener = function (type, ...rest) { if (type === "beforeprint") window.listeners++; return add.call(this, type, ...rest); }; true`)
	for _, place := range []string{"#/package/sample/etcd", "#/package/sample/grafana", "#/package/sample/etcd"} {
		b.goTo(place)
	}
	if n := eval[int](b, "window.listeners"); n != 0 {
		t.Errorf("%d listeners were added for prints", n)
	}
}

// TestNarrowReasons checks that in a narrow window the drawing of reasons begins inside the window, and that a finger
// scrolls the page over it.
func TestNarrowReasons(t *testing.T) {
	b := newTab(t)
	b.size(500, 900)
	b.open(makePage(t, "--sample", "--package", "grafana", "--package", "etcd:stable", "--installed", "etcd=0.9.0", "--package", "vault-operator"), "#/resolution/0")
	var at struct {
		Left, Right, Width float64
		Touch              string
	}
	into(b, `(() => {
		const d = document.querySelector(".drawing"), frame = d.getBoundingClientRect();
		const boxes = [...document.querySelectorAll(".node .box")].map((n) => n.getBoundingClientRect());
		return { Left: Math.min(...boxes.map((r) => r.left)) - frame.left, Right: frame.right - Math.max(...boxes.map((r) => r.right)), Width: frame.width, Touch: getComputedStyle(d).touchAction };
	})()`, &at)
	if at.Left < 0 || at.Left > 64 {
		t.Errorf("the drawing does not begin at the left: %+v", at)
	}
	if at.Touch != "pan-x pan-y" {
		t.Errorf("touch-action is %q", at.Touch)
	}
}

// TestNatural checks that channels are in natural order, with numbers compared by value.
func TestNatural(t *testing.T) {
	catalog := write(t, "small.json", `{"schema":"olm.package","name":"a","defaultChannel":"stable-3.10"}
{"schema":"olm.channel","package":"a","name":"stable-3.10","entries":[{"name":"a.v1.1.0"}]}
{"schema":"olm.channel","package":"a","name":"stable-3.6","entries":[{"name":"a.v1.1.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.1.0"}}]}`)
	b := newTab(t)
	b.open(makePage(t, catalog), "#/package/small/a")
	if got := eval[string](b, `[...document.querySelectorAll(".channels a bdi")].map((a) => a.textContent).join(" ")`); got != "stable-3.6 stable-3.10" {
		t.Errorf("channels are %s", got)
	}
}

// TestTotals checks that the page shows the number of problems if there are too many to list (A1).
func TestTotals(t *testing.T) {
	var entries []string
	for i := range 115 {
		entries = append(entries, fmt.Sprintf(`{"name":"p.v1.0.%d","skipRange":"no range %d"}`, i, i))
	}
	b := newTab(t)
	b.open(makePage(t, write(t, "small.json", `{"schema":"olm.package","name":"p","defaultChannel":"c"}
{"schema":"olm.channel","package":"p","name":"c","entries":[`+strings.Join(entries, ",")+`]}`)), "#/packages")
	if got := b.text("main summary"); !strings.HasPrefix(got, "100 of ") || !strings.HasSuffix(got, " problems; olmkit validate lists all") {
		t.Errorf("of the catalog it says %q", got)
	}
	b.goTo("#/package/small/p")
	if got := b.text("main .note p"); !strings.Contains(got, "This channel has faults (2") || !strings.Contains(got, "; olmkit validate lists all)") {
		t.Errorf("of the channel it says %q", got)
	}
	b.quiet()
}

// partialProblem writes a problem of which only a part can be planned.
func partialProblem(t testing.TB) string {
	return write(t, "partial.json", `{"namespace":"ns","options":{"partial":true},"subscriptions":[{"package":"a"},{"package":"b"},{"package":"lib"}],"installed":[],"catalogs":[{"name":"small","namespace":"olm","fbc":`+strconv.Quote(
		`{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"lib","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"b","defaultChannel":"c"}
{"schema":"olm.channel","package":"b","name":"c","entries":[{"name":"b.v1.0.0"}]}
{"schema":"olm.bundle","package":"b","name":"b.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"nowhere","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"lib","defaultChannel":"c"}
{"schema":"olm.channel","package":"lib","name":"c","entries":[{"name":"lib.v1.0.0"}]}
{"schema":"olm.bundle","package":"lib","name":"lib.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"lib","version":"1.0.0"}}]}
`)+`}]}`)
}
