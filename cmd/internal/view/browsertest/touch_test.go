package browsertest

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
)

// A finger is a point on the screen.
type finger struct{ X, Y float64 }

// touch sends one touch event. Without fingers, the previous ones are lifted.
func (b *tab) touch(kind input.DispatchTouchEventType, at ...finger) {
	b.Helper()
	points := make([]*input.TouchPoint, len(at))
	for i, f := range at {
		id := float64(i)
		points[i] = &input.TouchPoint{X: f.X, Y: f.Y, ID: &id}
	}
	call(b, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
}

// TestTouch uses the page like on a phone: a tap selects a version, one finger scrolls the page over a drawing, and
// two fingers move and zoom it.
func TestTouch(t *testing.T) {
	b := newTab(t)
	b.size(375, 667)
	call(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true, MaxTouchPoints: 2})
	b.open(makePage(t, "--sample"), "#/package/sample/etcd/stable")
	b.script(`document.querySelector(".drawing").scrollIntoView({ block: "center" }); true`)
	at := func(selector string) (f finger) {
		t.Helper()
		into(b, fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return { X: r.x + r.width / 2, Y: r.y + r.height / 2 }; })()`, selector), &f)
		return f
	}
	transform := `document.querySelector(".drawing > g").getAttribute("transform")`

	// A tap selects a version, and a second one deselects it.
	label := eval[string](b, `document.querySelectorAll(".node")[1].getAttribute("aria-label")`)
	version := at(".node:nth-of-type(2)")
	for _, want := range []string{"true", "false"} {
		b.touch(input.DispatchTouchEventTypeTouchStart, version)
		b.touch(input.DispatchTouchEventTypeTouchEnd)
		b.until(`document.querySelectorAll(".node")[1].getAttribute("aria-pressed")`, want)
	}
	t.Logf("tapped %q", label)

	// One finger does not move the drawing; the browser scrolls the page.
	b.script(`document.querySelector(".drawing").scrollIntoView({ block: "center" }); true`)
	before := eval[string](b, transform)
	f := at(".drawing")
	scrolled := eval[float64](b, "scrollY")
	b.touch(input.DispatchTouchEventTypeTouchStart, f)
	for i := range 8 {
		b.touch(input.DispatchTouchEventTypeTouchMove, finger{f.X, f.Y - 20*float64(i+1)})
	}
	b.touch(input.DispatchTouchEventTypeTouchEnd)
	b.until(fmt.Sprintf(`String(scrollY > %g + 40)`, scrolled), "true")
	if got := eval[string](b, transform); got != before {
		t.Errorf("one finger moved the drawing from %s to %s", before, got)
	}

	// Two fingers moving apart zoom in.
	b.script(`document.querySelector(".drawing").scrollIntoView({ block: "center" }); true`)
	scale := `Number(/scale\(([\d.]+)/.exec(` + transform + `)[1])`
	was := eval[float64](b, scale)
	f = at(".drawing")
	b.touch(input.DispatchTouchEventTypeTouchStart, finger{f.X - 20, f.Y}, finger{f.X + 20, f.Y})
	for i := range 6 {
		d := 20 + 10*float64(i+1)
		b.touch(input.DispatchTouchEventTypeTouchMove, finger{f.X - d, f.Y}, finger{f.X + d, f.Y})
	}
	b.touch(input.DispatchTouchEventTypeTouchEnd)
	b.until(fmt.Sprintf(`String(%s > 1.5 * %g)`, scale, was), "true")
	if page := eval[float64](b, "visualViewport.scale"); page != 1 {
		t.Errorf("the page itself was zoomed to %g", page)
	}
	b.quiet()
}

// TestTouchTargets checks that touch targets are at least 24 pixels wide and high, or part of a sentence (WCAG 2.2,
// 2.5.8).
func TestTouchTargets(t *testing.T) {
	b := newTab(t)
	b.size(375, 667)
	file := samplePage(t)
	for _, place := range places {
		b.open(file, place)
		var small []string
		into(b, `[...document.querySelectorAll("a[href], button, input, select, summary, .node")].filter((e) => {
			if (!e.checkVisibility() || e.matches(".skip")) return false;
			const r = e.getBoundingClientRect();
			if (r.width >= 24 && r.height >= 24 || e.matches("td *, th *, li:not(#packages li) *, p *, h2 *, dd *")) return false;
			return true;
		}).map((e) => { const r = e.getBoundingClientRect(); return e.outerHTML.slice(0, 80) + " " + r.width + "x" + r.height; })`, &small)
		for _, x := range small {
			t.Errorf("%s: too small for a finger: %s", place, x)
		}
	}
}
