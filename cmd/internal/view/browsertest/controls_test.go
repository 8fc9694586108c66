package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"

	"github.com/olmkit/olmkit/internal/golden"
)

// controls selects everything that users can operate. TestClicksAreControls finds other elements that a script makes
// clickable.
const controls = `a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"]), [role=button], [onclick]`

// roles are the allowed roles of a control for screen readers, by element.
var roles = map[string][]string{
	"A": {"link"}, "BUTTON": {"button"}, "INPUT": {"searchbox", "checkbox", "radio"}, "SELECT": {"combobox"},
	"SUMMARY": {"DisclosureTriangle"}, "g": {"button", "image"}, "DIV": {"region"},
}

// TestControls checks that a screen reader gets the role and name of every control, and that it can be focused. The
// golden file lists what a user hears when moving from control to control.
func TestControls(t *testing.T) {
	b := newTab(t)
	var heard strings.Builder
	file, diff := samplePage(t), makePage(t, "--sample", "--diff", write(t, "older.json", olderSample))
	for _, at := range []struct{ file, place string }{
		{file, "#/packages"}, {file, "#/package/sample/etcd/stable/etcdoperator.v0.9.0"},
		{file, "#/package/sample/grafana/v4/grafana-operator.v4.10.1"}, {file, "#/resolution/0"}, {diff, "#/difference"},
	} {
		b.open(at.file, at.place)
		b.script("for (const d of document.querySelectorAll('details')) { d.open = true; d.fill?.(); } " +
			"new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))") // wait for the content that opening draws
		fmt.Fprintf(&heard, "%s\n", at.place)
		call(b, accessibility.Enable, cdp.Empty{})
		root := call(b, dom.GetDocument, dom.GetDocumentParams{}).Root
		list := call(b, dom.QuerySelectorAll, dom.QuerySelectorAllParams{NodeID: root.NodeID, Selector: controls}).NodeIDs
		if len(list) < 15 {
			t.Errorf("%s: only %d controls", at.place, len(list))
		}
		relatives := false
		for _, id := range list {
			element := call(b, dom.DescribeNode, dom.DescribeNodeParams{NodeID: id}).Node
			nodes := call(b, accessibility.GetPartialAXTree, accessibility.GetPartialAXTreeParams{NodeID: id, FetchRelatives: &relatives}).Nodes
			if len(nodes) != 1 || nodes[0].Ignored {
				t.Errorf("%s: screen readers do not get %s %v", at.place, element.NodeName, element.Attributes)
				continue
			}
			role, name := said(nodes[0].Role), said(nodes[0].Name)
			if !slices.Contains(roles[element.NodeName], role) {
				t.Errorf("%s: %s %q has the role %q, want one of %q", at.place, element.NodeName, name, role, roles[element.NodeName])
			}
			if name == "" {
				t.Errorf("%s: a %s has no name: %v", at.place, role, element.Attributes)
			}
			states := map[string]string{}
			for _, p := range nodes[0].Properties {
				states[string(p.Name)] = said(p.Value)
			}
			if states["focusable"] != "true" {
				t.Errorf("%s: the %s %q cannot be focused", at.place, role, name)
			}
			fmt.Fprintf(&heard, "  %s %q", role, name)
			for _, s := range []string{"checked", "expanded", "pressed"} {
				if v, ok := states[s]; ok {
					fmt.Fprintf(&heard, ", %s %s", s, v)
				}
			}
			heard.WriteByte('\n')
		}
	}
	golden.File(t, "controls.txt", heard.String()) // what a screen reader reads for the controls
}

// said returns the text of a value in the accessibility tree.
func said(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	var text string
	if json.Unmarshal(v.Value, &text) != nil {
		text = string(v.Value)
	}
	return strings.Join(strings.Fields(text), " ")
}

// TestClicksAreControls checks that every element that a script makes clickable is a control, so that everything works
// without a mouse.
func TestClicksAreControls(t *testing.T) {
	b := newTab(t)
	file := samplePage(t)
	// Record listeners from before the page's own script.
	b.before(`{
		const add = EventTarget.prototype.addEventListener;
		window.clickable = new Set();
		EventTarget.prototype.addEventListener = function (type, ...rest) {
			if (/^(click|dblclick|mousedown|mouseup|pointerdown|touchstart)$/.test(type) && this instanceof Element) window.clickable.add(this);
			return add.call(this, type, ...rest);
		};
	}`)
	for _, place := range places {
		b.open(file, place)
		var found struct {
			All   int
			Other []string
		}
		into(b, fmt.Sprintf(`(() => {
			const all = [...window.clickable].filter((e) => e.isConnected);
			return { All: all.length, Other: all.filter((e) => !e.matches(%q) && !e.matches("g.node[tabindex]") && !e.matches("svg.drawing")).map((e) => e.outerHTML.slice(0, 80)) };
		})()`, controls), &found)
		for _, x := range found.Other {
			t.Errorf("%s: %s handles clicks but is not a control", place, x)
		}
		if place != "#/packages" && found.All == 0 {
			t.Errorf("%s: found no clickable elements", place)
		}
	}
}
