package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// evil are texts that have an effect if anything interprets them as markup, code or an address: each sets a variable
// and opens a dialog, or requests a file.
var evil = []string{
	`<img src=x onerror="window.ran=1;alert(1)">`,
	`</script><script>window.ran=1;alert(2)</script>`,
	`"><svg onload="window.ran=1;alert(3)">`,
	`<iframe srcdoc="<script>parent.ran=1;alert(4)</script>"></iframe>`,
	`javascript:window.ran=1;alert(5)`,
	`<a href="javascript:window.ran=1">x</a>`,
	`<style>@import url(http://127.0.0.1:9/x.css);*{background:url(http://127.0.0.1:9/x)}</style>`,
	`<link rel=stylesheet href=http://127.0.0.1:9/y><meta http-equiv=refresh content="0;url=http://127.0.0.1:9/z">`,
	"<!--<script>\u2028window.ran=1\u2029",
	`${window.ran=1}{{constructor.constructor('window.ran=1')()}}`,
	"\u202edesrever",
	`__proto__`,
	`constructor`,
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// hostileCatalog has hostile text in every field of a catalog.
func hostileCatalog(old bool) string {
	var b strings.Builder
	for i, x := range evil {
		q, name := quoted(x), quoted(fmt.Sprintf("%s %d", x, i))
		version := "1.0.0"
		if old {
			version = "0.9.0"
		}
		below := quoted(x + " below")
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%[1]s,"defaultChannel":%[1]s,"description":%[1]s,"icon":{"base64data":"PHN2ZyBvbmxvYWQ9ImFsZXJ0KDYpIi8+","mediatype":"image/svg+xml"}}
{"schema":"olm.channel","package":%[1]s,"name":%[1]s,"entries":[{"name":%[2]s,"replaces":%[3]s,"skips":[%[4]s],"skipRange":"<1.0.0"},{"name":%[3]s}]}
{"schema":"olm.channel","package":%[1]s,"name":%[2]s,"entries":[{"name":%[2]s,"skipRange":%[1]s},{"name":%[3]s}]}
{"schema":"olm.bundle","package":%[1]s,"name":%[2]s,"image":%[1]s,"properties":[{"type":"olm.package","value":{"packageName":%[1]s,"version":%[5]q}},{"type":"olm.gvk","value":{"group":%[1]s,"version":%[1]s,"kind":%[1]s}},{"type":"olm.gvk.required","value":{"group":%[1]s,"version":"v0","kind":%[1]s}},{"type":"olm.constraint","value":{"failureMessage":%[1]s,"package":{"packageName":%[2]s,"versionRange":">=9.0.0"}}},{"type":%[1]s,"value":%[1]s},{"type":"olm.csv.metadata","value":{"displayName":%[1]s,"description":%[3]s,"provider":{"name":%[1]s,"url":"javascript:window.ran=1"},"keywords":[%[1]s],"links":[{"name":%[1]s,"url":"javascript:window.ran=1"}],"annotations":{"description":%[1]s}}}]}
{"schema":"olm.bundle","package":%[1]s,"name":%[3]s,"image":%[1]s,"properties":[{"type":"olm.package","value":{"packageName":%[1]s,"version":"0.1.0"}}]}
{"schema":"olm.deprecations","package":%[1]s,"entries":[{"reference":{"schema":"olm.package"},"message":%[1]s},{"reference":{"schema":"olm.channel","name":%[1]s},"message":%[1]s},{"reference":{"schema":"olm.bundle","name":%[2]s},"message":%[1]s}]}
`, q, name, below, quoted(x+" skipped"), version)
	}
	return b.String()
}

// harmless fails if any text from the catalog was interpreted.
func (b *tab) harmless(where string) {
	b.Helper()
	var found struct {
		Ran      bool     `json:"ran"`
		Scripts  int      `json:"scripts"`
		Elements []string `json:"elements"`
		Handlers []string `json:"handlers"`
		Links    []string `json:"links"`
	}
	into(b, `(() => {
		const all = [...document.querySelectorAll("*")];
		return {
			ran: window.ran !== undefined || {}.ran !== undefined,
			scripts: document.scripts.length,
			elements: [...document.querySelectorAll("img,iframe,object,embed,form,base,meta[http-equiv=refresh],link[rel=stylesheet],audio,video,foreignObject,use,image")].map((e) => e.outerHTML),
			handlers: all.flatMap((e) => [...e.attributes].filter((a) => a.name.startsWith("on") || a.name === "style" || a.name === "srcdoc").map((a) => e.tagName + " " + a.name)),
			links: [...document.querySelectorAll("[href],[src]")].map((e) => e.getAttribute("href") ?? e.getAttribute("src")).filter((h) => !h.startsWith("#") && h !== "data:,"),
		};
	})()`, &found)
	if found.Ran {
		b.Errorf("%s: a script in the catalog ran", where)
	}
	if found.Scripts != 2 {
		b.Errorf("%s: %d scripts, want 2", where, found.Scripts)
	}
	for _, list := range [][]string{found.Elements, found.Handlers, found.Links} {
		for _, x := range list {
			b.Errorf("%s: text became markup: %s", where, x)
		}
	}
}

// TestTheTextsAreEvil checks that the texts have their effect when used as markup. Otherwise, the next test would
// prove nothing.
func TestTheTextsAreEvil(t *testing.T) {
	b := newTab(t)
	b.do(chromedp.Navigate("about:blank"))
	for _, x := range evil[:4] {
		b.script(fmt.Sprintf("window.ran = undefined; document.open(); document.write(%s); document.close(); true", quoted(x)))
		deadline := time.Now().Add(patience)
		for ran := false; !ran; {
			into(b, "window.ran === 1", &ran)
			if !ran && time.Now().After(deadline) {
				t.Fatalf("%s does nothing", x)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.dialogs) == 0 {
		t.Error("no dialog was seen")
	}
}

// TestHostileCatalog opens every view of a page whose catalog, problem and older catalog are hostile.
func TestHostileCatalog(t *testing.T) {
	catalog, old := write(t, "catalog.json", hostileCatalog(false)), write(t, "catalog.json", hostileCatalog(true))
	var subs []string
	for _, x := range evil {
		subs = append(subs, fmt.Sprintf(`{"name":%[1]s,"package":%[1]s}`, quoted(x)))
	}
	problem := write(t, "problem.json", fmt.Sprintf(`{"id":%s,"namespace":%s,"catalogs":[{"name":"catalog","namespace":%s,"fbc":%s}],"subscriptions":[%s],"installed":[{"name":%s,"version":"0.0.1","package":%s}]}`,
		quoted(evil[0]), quoted(evil[1]), quoted(evil[2]), quoted(hostileCatalog(false)), strings.Join(subs, ","), quoted(evil[3]), quoted(evil[3])))
	file := makePage(t, catalog, "--diff", old, "--problem", problem)
	b := newTab(t)
	b.open(file, "")
	b.harmless("difference")
	for _, place := range []string{"#/packages", "#/resolution/0", "#/difference"} {
		b.goTo(place)
		b.script("for (const d of document.querySelectorAll('details')) { d.open = true; d.fill?.(); }; for (const x of document.querySelectorAll('button.link')) x.click(); true")
		b.harmless(place)
		b.goTo("#/")
	}
	seen := 0
	var n int
	into(b, "document.querySelectorAll('#packages a').length", &n)
	if n != len(evil) {
		t.Errorf("%d packages are listed, want %d", n, len(evil))
	}
	for i := range n {
		b.moves(fmt.Sprintf("location.hash = document.querySelectorAll('#packages a')[%d].hash", i))
		var nodes int
		into(b, "document.querySelectorAll('.node').length", &nodes)
		for j := range nodes {
			b.script(fmt.Sprintf("document.querySelectorAll('.node')[%d].dispatchEvent(new MouseEvent('click', {bubbles: true})); for (const d of document.querySelectorAll('details')) { d.open = true; d.fill?.(); }; true", j))
			seen++
		}
		b.harmless(fmt.Sprintf("package %d", i))
	}
	if seen < 2*len(evil) {
		t.Errorf("only %d versions were picked", seen)
	}
	// Search for hostile text, and open hostile addresses.
	for _, x := range []string{"<img", "javascript:", "__proto__", "<svg onload"} {
		b.script(fmt.Sprintf(`(() => { const s = document.getElementById("search"); s.value = %q; s.dispatchEvent(new Event("input")); return true; })()`, x))
		if n := eval[int](b, "document.querySelectorAll('#packages a').length"); n == 0 {
			t.Errorf("the search for %q finds nothing", x)
		}
		b.harmless("search for " + x)
	}
	for _, x := range evil {
		b.goTo("#/package/catalog/" + x)
		b.goTo("#/" + x + "/" + x)
		b.goTo("#" + x)
	}
	b.goTo("#/%E0%A4%A/%")
	b.harmless("addresses")
	if title := b.text("title"); title == "" {
		t.Error("the page lost its title")
	}
	b.quiet()
}
