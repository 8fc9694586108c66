package browsertest

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// controls are everything that somebody can use. That a script makes something
// clickable which is none of these is for TestClicksAreControls.
const controls = `a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"]), [role=button], [onclick]`

// roles are what a control may be to a screen reader, by element.
var roles = map[string][]string{
	"A": {"link"}, "BUTTON": {"button"}, "INPUT": {"searchbox", "checkbox", "radio"}, "SELECT": {"combobox"},
	"SUMMARY": {"DisclosureTriangle"}, "g": {"button", "image"}, "DIV": {"region"},
}

// TestControls: a screen reader gets the role and the name of every control, and
// that it can be focused. The golden file is what a user hears who moves from
// control to control.
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
			"new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))") // what opening draws is drawn
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
				t.Errorf("%s: a screen reader does not hear of %s %v", at.place, element.NodeName, element.Attributes)
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
	golden := filepath.Join("testdata", "controls.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(heard.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), heard.String()); diff != "" {
		t.Errorf("what a screen reader hears of the controls (-want +got; -update rewrites it):\n%s", diff)
	}
}

// said returns the text of a value of the accessibility tree.
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

// TestClicksAreControls: whatever the script made clickable is a control, so that
// no mouse gets where a keyboard does not.
func TestClicksAreControls(t *testing.T) {
	b := newTab(t)
	file := samplePage(t)
	// What runs before the page's own script keeps a list of listeners.
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
			t.Errorf("%s: clicks on %s do something, and it is no control", place, x)
		}
		if place != "#/packages" && found.All == 0 {
			t.Errorf("%s: nothing was found clickable", place)
		}
	}
}
