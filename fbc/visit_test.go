package fbc

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/internal/testsize"
)

// TestVisit checks that loading with Visit gives the same blobs, order, findings and errors
// as without it, for any batch size and number of goroutines.
func TestVisit(t *testing.T) {
	var many strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&many, `{"schema":"olm.bundle","package":"a","name":"a.v%d","image":"q/a:%[1]d","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.%[1]d"}},{"type":"x","value":[%[1]d]},{"type":"olm.csv.metadata","value":{}}]}`+"\n", i)
	}
	trees := map[string]fs.FS{
		"many":       files("a/a.json", pkgA+many.String(), "b/b.yaml", "---\nschema: olm.channel\npackage: b\nname: c\nentries:\n- name: b.v1\n  skips: [b.v0]\n---\nschema: other\nx: 1\n"),
		"twice":      files("a/a.json", pkgA+channel+bundle, "b/a.json", "\n"+pkgA+channel+bundle),
		"entries":    files("a.json", `{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1"},{"name":"a.v1"}]}`),
		"empty":      files(),
		"faults":     files("a.json", pkgA+`{"schema":"olm.bundle","name":"x"}`+"\n{\n", "b.yaml", "schema: [\n", "c.json", bundle),
		"findings":   files("a.json", `{"schema":"olm.bundle","package":"a","name":"a.v1","properties":[null,{"type":"x"},{"type":"","value":1}]}`),
		"other only": files("a.yaml", "schema: other\nproperties:\n- {type: x, value: {a: 1}}\n"),
	}
	describe := func(b Blob) string {
		m := *b.Common()
		line := fmt.Sprintf("%T %s %s %s %s %v", b, m.Schema, m.Package, m.Name, m.Pos, m.from.length)
		for _, p := range m.Properties {
			line += fmt.Sprintf(" %s=%s", p.Type, p.Value)
		}
		switch b := b.(type) {
		case *Package:
			line += b.DefaultChannel
		case *Channel:
			line += fmt.Sprint(b.Entries)
		case *Bundle:
			line += b.Image
		}
		return line
	}
	kinds := func(list []string) map[string][]string { // a load does not order blobs of different kinds
		out := map[string][]string{}
		for _, s := range list {
			kind, _, _ := strings.Cut(s, " ")
			out[kind] = append(out[kind], s)
		}
		return out
	}
	for name, tree := range trees {
		t.Run(name, func(t *testing.T) {
			var want []string
			c, wantErr := Load(context.Background(), tree, nil)
			if c != nil {
				for b := range c.Blobs() {
					want = append(want, describe(b))
				}
			}
			for _, opts := range []LoadOptions{{}, {Concurrency: 1}, {Concurrency: 5, chunk: 7}} {
				var got []string
				opts.Visit = func(b Blob) { got = append(got, describe(b)) }
				visited, err := Load(context.Background(), tree, &opts)
				if errText(err) != errText(wantErr) {
					t.Fatalf("got the error\n%v\nwant\n%v", err, wantErr)
				}
				if err != nil {
					continue
				}
				if visited.Len() != 0 {
					t.Errorf("%d blobs were kept", visited.Len())
				}
				if d := cmp.Diff(kinds(want), kinds(got)); d != "" {
					t.Errorf("what was visited (-load +visit):\n%s", d)
				}
				if visited.Findings.Error() != c.Findings.Error() {
					t.Errorf("findings\n%v\nwant\n%v", visited.Findings, c.Findings)
				}
			}
		})
	}
}

// TestVisitUsesMemoryAgain checks that the memory allocated for decoding does not grow with
// the size of the catalog.
func TestVisitUsesMemoryAgain(t *testing.T) {
	if testsize.Race {
		t.Skip("the race detector allocates memory")
	}
	load := func(bundles int) float64 {
		var text strings.Builder
		for i := range bundles {
			fmt.Fprintf(&text, `{"schema":"olm.bundle","package":"a","name":"a.v%d","properties":[{"type":"olm.gvk","value":{"group":"g","kind":"K","version":"v1"}},{"type":"olm.gvk","value":{"group":"g","kind":"L","version":"v1"}},{"type":"x","value":%[1]d}]}`+"\n", i)
		}
		data := []byte(text.String())
		return testing.AllocsPerRun(3, func() {
			seen := 0
			if _, err := LoadReader(context.Background(), bytes.NewReader(data), "a.json", &LoadOptions{Concurrency: 1, Visit: func(Blob) { seen++ }}); err != nil || seen != bundles {
				t.Fatal(seen, err)
			}
		})
	}
	few, many := load(1000), load(10_000)
	// Each bundle needs its name and little else.
	if perBundle := (many - few) / 9000; perBundle > 2 {
		t.Errorf("%.1f allocations for each bundle, want at most 2", perBundle)
	}
}
