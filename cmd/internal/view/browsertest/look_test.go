package browsertest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

// places are the views of the page that samplePage generates.
var places = []string{"#/packages", "#/package/sample/etcd/stable/etcdoperator.v0.9.0", "#/package/sample/grafana/v4/grafana-operator.v4.10.1", "#/resolution/0"}

func samplePage(t testing.TB) string {
	return makePage(t, "--sample", "--package", "etcd:stable", "--package", "etcd-backup-tool", "--package", "grafana", "--installed", "argocd=0.7.0")
}

// TestContrast checks that text is readable on its background (WCAG 2.2, 1.4.3 AA) and that the edges of boxes are
// visible (1.4.11), in both color schemes.
func TestContrast(t *testing.T) {
	b := newTab(t)
	file := samplePage(t)
	for _, scheme := range []string{"light", "dark"} {
		b.color(scheme)
		for _, place := range places {
			b.open(file, place)
			b.script("for (const d of document.querySelectorAll('details')) d.open = true; true")
			var found struct {
				Checked int      `json:"checked"`
				Bad     []string `json:"bad"`
			}
			into(b, contrast, &found)
			if found.Checked < 20 {
				t.Errorf("%s %s: only %d texts were checked", scheme, place, found.Checked)
			}
			for _, x := range found.Bad {
				t.Errorf("%s %s: %s", scheme, place, x)
			}
		}
	}
	b.quiet()
}

// contrast returns the texts with too little contrast to their background.
const contrast = `(() => {
	const parse = (c) => { const m = c.match(/[\d.]+/g).map(Number); return { rgb: m.slice(0, 3), a: m.length > 3 ? m[3] : 1 }; };
	const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const ground = (e) => {
		for (; e; e = e.parentElement) {
			const box = e.matches?.("g.node") ? getComputedStyle(e.querySelector(".box")).fill : "none";
			if (box !== "none") return parse(box).rgb;
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c.a === 1) return c.rgb;
		}
		return [255, 255, 255];
	};
	const bad = [];
	let checked = 0;
	for (const e of document.body.querySelectorAll("*")) {
		if (e.closest("script, style, noscript, .quiet, defs, title") || !e.checkVisibility?.()) continue;
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
		const s = getComputedStyle(e);
		const ink = parse(e instanceof SVGElement ? s.fill : s.color).rgb;
		const r = ratio(ink, ground(e));
		checked++;
		if (r < 4.5) bad.push(r.toFixed(2) + " for " + e.tagName + "." + e.getAttribute("class") + " " + JSON.stringify(e.textContent.slice(0, 40)));
	}
	for (const e of document.querySelectorAll(".node .box, .edge, .way, input, select, .zoom button")) {
		const s = getComputedStyle(e);
		const r = ratio(parse(e instanceof SVGElement ? s.stroke : s.borderTopColor).rgb, ground(e.closest("svg") || e));
		checked++;
		if (r < 3) bad.push(r.toFixed(2) + " for the line of " + e.tagName + "." + e.getAttribute("class"));
	}
	return { checked, bad };
})()`

// TestNames checks that every control has a name, and every drawing a name and equivalent text.
func TestNames(t *testing.T) {
	b := newTab(t)
	file := samplePage(t)
	for _, place := range places {
		b.open(file, place)
		call(b, accessibility.Enable, cdp.Empty{})
		nodes := call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes
		used := 0
		for _, n := range nodes {
			if n.Ignored || n.Role == nil {
				continue
			}
			role := strings.Trim(string(n.Role.Value), `"`)
			switch role {
			case "button", "link", "searchbox", "textbox", "combobox", "checkbox", "radio", "DisclosureTriangle", "navigation", "region", "complementary":
				used++
				if n.Name == nil || strings.Trim(string(n.Name.Value), `"`) == "" {
					t.Errorf("%s: a %s has no name", place, role)
				}
			}
		}
		if used < 10 {
			t.Errorf("%s: found only %d controls", place, used)
		}
		var faults []string
		into(b, `(() => {
			const bad = [], ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
			for (const id of ids) if (ids.filter((x) => x === id).length > 1) bad.push("two elements are " + id);
			for (const e of document.querySelectorAll("[aria-describedby],[aria-labelledby]")) {
				const id = e.getAttribute("aria-describedby") || e.getAttribute("aria-labelledby");
				if (!document.getElementById(id)) bad.push("nothing is " + id);
			}
			for (const e of document.querySelectorAll("svg.drawing")) {
				if (!e.getAttribute("aria-label")) bad.push("a drawing has no name");
				if (e.querySelectorAll("[tabindex='0']").length !== 1) bad.push("the tab key does not stop once in a drawing");
			}
			if (document.querySelectorAll("svg.drawing").length > document.querySelectorAll("main table, main details").length) bad.push("a drawing has no table");
			if (document.querySelectorAll("h1").length !== 1) bad.push("there is not one h1");
			return bad;
		})()`, &faults)
		for _, x := range faults {
			t.Errorf("%s: %s", place, x)
		}
	}
}

// TestFocusIsSeen checks that an element looks different when a key focuses it.
func TestFocusIsSeen(t *testing.T) {
	b := newTab(t)
	b.open(samplePage(t), places[1])
	for range 14 {
		b.press("\t")
		var got struct {
			What string `json:"what"`
			Seen bool   `json:"seen"`
		}
		into(b, `(() => {
			const e = document.activeElement, s = getComputedStyle(e);
			const halo = e.querySelector?.(":scope > .halo");
			return { what: e.tagName + " " + (e.id || e.textContent.slice(0, 20)), seen: halo ? getComputedStyle(halo).stroke !== "none" : s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1.5 };
		})()`, &got)
		if !got.Seen && got.What != "BODY " {
			t.Errorf("the focus on %s cannot be seen", got.What)
		}
	}
}

// TestNarrow checks that no view is wider than a small window, and everything in it can be reached.
func TestNarrow(t *testing.T) {
	b := newTab(t)
	file := samplePage(t)
	for _, width := range []int64{320, 520, 800, 1100} {
		b.size(width, 800)
		for _, place := range places {
			b.open(file, place)
			var over int
			into(b, "document.scrollingElement.scrollWidth - window.innerWidth", &over)
			if over > 0 {
				t.Errorf("%s: %d pixels wider than a window of %d", place, over, width)
			}
		}
	}
}

// TestNarrowList checks that on a phone the list of packages is hidden until the user searches, and then works with
// keyboard and touch.
func TestNarrowList(t *testing.T) {
	b := newTab(t)
	b.size(375, 667)
	b.open(samplePage(t), places[1])
	visible := func() bool {
		return eval[bool](b, `document.querySelector("#packages a").checkVisibility()`)
	}
	if visible() {
		t.Error("the list hides the selected package")
	}
	if top := eval[float64](b, `document.querySelector("main h1").getBoundingClientRect().top`); top > 250 {
		t.Errorf("the title is %g pixels down", top)
	}
	b.press("/")
	if !visible() {
		t.Error("the search has no list")
	}
	b.press("g", "r", "a", kb.ArrowDown, kb.Enter)
	b.until(`document.querySelector("main h1").textContent`, "grafana")
	if !visible() {
		t.Error("what was found is gone")
	}
	b.press("/", kb.Escape, kb.Tab)
	b.script(`document.activeElement.blur(); true`)
	if visible() {
		t.Error("the list stays")
	}
}

// TestPrint checks that a printed page shows folded parts and hides controls.
func TestPrint(t *testing.T) {
	b := newTab(t)
	b.open(samplePage(t), places[1])
	pdf := get(b, chromedp.PrintToPDF())
	if len(pdf) < 10_000 {
		t.Errorf("the print has %d bytes", len(pdf))
	}
	var closed int
	into(b, "document.querySelectorAll('main details:not([open])').length", &closed)
	if closed > 0 {
		t.Errorf("%d parts were printed folded", closed)
	}
	b.quiet()
}

// TestServed checks that the page works with its server's headers, but not in a frame of another page.
func TestServed(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- cli.Run(ctx, []string{"view", "--sample", "--serve"}, strings.NewReader(""), in, io.Discard)
	}()
	defer func() { cancel(); <-done }()
	line := make([]byte, 200)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url, _, _ := strings.Cut(string(line[:n]), " ")
	b := newTab(t)
	b.visit(url + "#/package/sample/etcd")
	if got := b.text("main h1"); got != "etcd" {
		t.Errorf("the title is %q", got)
	}
	b.quiet()

	frame := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<iframe src="`+url+`"></iframe>`)
	}))
	defer frame.Close()
	b = newTab(t)
	b.do(chromedp.Navigate(frame.URL), chromedp.WaitReady("iframe"))
	deadline := time.Now().Add(patience)
	for refused := false; !refused; {
		b.mu.Lock()
		for _, e := range b.errors {
			refused = refused || strings.Contains(e, "frame-ancestors")
		}
		b.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatalf("the page was shown in a frame: %q", b.errors)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
