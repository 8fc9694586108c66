package draw_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/graph/draw"
	"github.com/olmkit/olmkit/internal/realcat"
)

func pkg(t testing.TB, channels string, bundles ...string) graph.Package {
	t.Helper()
	text := `{"schema":"olm.package","name":"db","defaultChannel":"stable"}` + "\n" + channels
	for _, v := range bundles {
		text += fmt.Sprintf(`{"schema":"olm.bundle","package":"db","name":"db.v%[1]s","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":%[1]q}}]}`+"\n", v)
	}
	c, err := graph.LoadReader(context.Background(), strings.NewReader(text), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := c.Package("db")
	return p
}

// sound is a package with a skipped and a deprecated entry, an end without a bundle, a
// range and a second channel.
const sound = `{"schema":"olm.channel","package":"db","name":"stable","entries":[
{"name":"db.v1.1.0","replaces":"db.v1.0.0"},{"name":"db.v1.2.0","replaces":"db.v1.1.0"},
{"name":"db.v1.2.1","replaces":"db.v1.1.0","skips":["db.v1.2.0"]},{"name":"db.v1.3.0","replaces":"db.v1.2.1","skipRange":">=1.1.0 <1.3.0"}]}
{"schema":"olm.channel","package":"db","name":"next","entries":[{"name":"db.v2.0.0-rc.1","replaces":"db.v1.3.0"}]}
{"schema":"olm.deprecations","package":"db","entries":[{"reference":{"schema":"olm.bundle","name":"db.v1.1.0"},"message":"old"},{"reference":{"schema":"olm.channel","name":"next"},"message":"not\nyet <done> & \"quoted\""}]}
`

// broken is a package with two heads, a cycle, an entry without a bundle and an invalid
// range.
const broken = `{"schema":"olm.channel","package":"db","name":"stable","entries":[
{"name":"db.v1.0.0","replaces":"db.v1.2.0"},{"name":"db.v1.1.0","replaces":"db.v1.0.0"},{"name":"db.v1.2.0","replaces":"db.v1.1.0"},
{"name":"db.v2.0.0","skipRange":">=1 <"},{"name":"db.v3.0.0","replaces":"db.v3.0.0"}]}
{"schema":"olm.channel","package":"db","name":"odd \"name\" <&>","entries":[{"name":"db.v2.0.0"},{"name":"db.v1.0.0"}]}
`

func TestDraw(t *testing.T) {
	p := pkg(t, sound, "1.1.0", "1.2.0", "1.2.1", "1.3.0", "2.0.0-rc.1")
	installed := graph.Node{Name: "db.v1.2.0", Version: "1.2.0"}
	u := p.Upgrades(graph.Classic, nil)
	for _, tt := range []struct {
		name string
		d    *draw.Drawing
	}{
		{"sound", draw.New(p, nil)},
		{"path", draw.New(p, &draw.Options{Channels: []string{"stable"}, Installed: []graph.Node{installed}, Path: u.Walk(installed).Steps})},
		{"broken", draw.New(pkg(t, broken, "1.0.0", "1.1.0", "1.2.0", "2.0.0"), nil)},
		{"empty", draw.New(p, &draw.Options{Channels: []string{"none"}})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			golden.File(t, tt.name+".svg", tt.d.SVG())
			golden.File(t, tt.name+".mmd", tt.d.Mermaid())
			golden.File(t, tt.name+".dot", tt.d.DOT())
			wellFormed(t, tt.d.SVG())
		})
	}
}

// TestHostileNames checks that names in a catalog cannot end a label or a line, or add a
// line to a label, in any format.
func TestHostileNames(t *testing.T) {
	const name = "a<br/>b\"c[]{}()d--|e-->f;\\ng&lt;#h`i%%j\u202ek"
	quoted, err := json.Marshal(name)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(`{"schema":"olm.package","name":NAME,"defaultChannel":NAME}
{"schema":"olm.channel","package":NAME,"name":NAME,"entries":[{"name":NAME,"replaces":"x.v0.1.0","skipRange":NAME}]}
{"schema":"olm.bundle","package":NAME,"name":NAME,"image":"i","properties":[{"type":"olm.package","value":{"packageName":NAME,"version":"1.0.0"}}]}
{"schema":"olm.deprecations","package":NAME,"entries":[{"reference":{"schema":"olm.channel","name":NAME},"message":NAME}]}
`, "NAME", string(quoted))
	// Loading refuses control characters in names, but not in messages.
	text = strings.Replace(text, `"message":"a`, `"message":"a\nd`, 1)
	c, err := graph.LoadReader(t.Context(), strings.NewReader(text), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, ok := c.Package(name)
	if !ok {
		t.Fatal("no package")
	}
	d := draw.New(p, nil)
	golden.File(t, "hostile.svg", d.SVG())
	golden.File(t, "hostile.mmd", d.Mermaid())
	golden.File(t, "hostile.dot", d.DOT())
	wellFormed(t, d.SVG())
	// No part of a name may appear outside quoted texts. Inside them, the only line breaks
	// are those of the drawing, before a mark.
	for _, f := range []struct {
		name, text, unquote, brk string
	}{{"Mermaid", d.Mermaid(), `"[^"]*"`, "<br/>"}, {"DOT", d.DOT(), `"(?:[^"\\]|\\.)*"`, `\n`}} {
		for n, line := range strings.Split(f.text, "\n") {
			quoted := regexp.MustCompile(f.unquote)
			if bare := quoted.ReplaceAllString(line, ""); strings.ContainsAny(bare, "`\"") || strings.Contains(bare, "br/") || strings.Contains(bare, "202e") {
				t.Errorf("%s:%d: a name leaves its quotes: %s", f.name, n+1, line)
			}
			for _, label := range quoted.FindAllString(line, -1) {
				label = strings.ReplaceAll(label, `\\`, "")
				if strings.Contains(label, f.brk+"b") || strings.Contains(label, f.brk+"d") || strings.Contains(label, f.brk+"g") {
					t.Errorf("%s:%d: a name breaks its label: %s", f.name, n+1, label)
				}
			}
		}
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("the SVG is not XML: %v", err)
		}
	}
}

// TestReal draws every package of the real catalogs.
func TestReal(t *testing.T) {
	for _, name := range []string{"community", "community-invalid", "openshift-v4.16", "openshift-v4.19"} {
		c := realcat.Graph(t, name)
		n, bytes := 0, 0
		for p := range c.Packages() {
			d := draw.New(p, nil)
			svg := d.SVG()
			wellFormed(t, svg)
			n, bytes = n+1, bytes+len(svg)+len(d.Mermaid())+len(d.DOT())
		}
		t.Logf("%s: %d packages, %d bytes", name, n, bytes)
	}
}
