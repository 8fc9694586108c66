package fbc

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/internal/testsize"

	"github.com/olmkit/olmkit/internal/golden"
)

func written(t testing.TB, c *Catalog, s Syntax) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Write(context.Background(), &out, c, &WriteOptions{Syntax: s}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var syntaxes = map[string]Syntax{"yaml": YAML, "json": JSON, "jsonl": JSONLines}

// TestRealRoundTrip loads and writes every real catalog twice: nothing is lost,
// and both texts are equal (A12).
func TestRealRoundTrip(t *testing.T) {
	for _, name := range realNames {
		t.Run(name, func(t *testing.T) {
			if testsize.Of(true, false, false) && name != "openshift-v4.19" {
				t.Skip("make test runs it")
			}
			c, err := Load(t.Context(), realTree(t, name), &LoadOptions{KeepAll: true})
			if err != nil {
				t.Fatal(err)
			}
			full := name == "community-full" || name == "openshift-v4.16" // large, with blobs like the others'
			var want []any
			if !full {
				want = values(t, c)
			}
			for ext, s := range syntaxes {
				if full && s != YAML {
					continue
				}
				text := written(t, c, s)
				again, err := LoadReader(t.Context(), bytes.NewReader(text), "written", &LoadOptions{KeepAll: true})
				if err != nil {
					t.Fatal(err)
				}
				if full {
					if again.Len() != c.Len() {
						t.Errorf("%d blobs, want %d", again.Len(), c.Len())
					}
				} else if got := values(t, again); !reflect.DeepEqual(got, want) {
					t.Errorf("%s: the values differ", ext)
				}
				if !bytes.Equal(written(t, again, s), text) {
					t.Errorf("%s: the second text differs from the first", ext)
				}
				t.Logf("%s: %d bytes, %d blobs as JSON in YAML", ext, len(text), strings.Count(string(text), "---\n{"))
			}
			light, err := Load(t.Context(), realTree(t, name), nil)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(written(t, light, YAML), written(t, c, YAML)) {
				t.Error("what was left in the source is written otherwise")
			}
		})
	}
}

// values returns the JSON values of all blobs, in an order that does not depend
// on the layout.
func values(t *testing.T, c *Catalog) []any {
	t.Helper()
	type blob struct {
		m *Meta
		v any
	}
	var all []blob
	for b := range c.Blobs() {
		d := json.NewDecoder(bytes.NewReader(b.Common().Raw))
		d.UseNumber()
		x := blob{m: b.Common()}
		if err := d.Decode(&x.v); err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(a, b blob) int {
		return strings.Compare(a.m.Package+"\x00"+a.m.Schema+"\x00"+a.m.Name, b.m.Package+"\x00"+b.m.Schema+"\x00"+b.m.Name)
	})
	out := make([]any, len(all))
	for i, b := range all {
		out[i] = b.v
	}
	return out
}

const messy = `{"schema":"zzz","n":4.10,"huge":1e999,"half":"\ud800"}
{"name":"b.v2","schema":"olm.bundle","properties":[{"value":{"version":"2.0.0","packageName":"b"},"type":"olm.package"},{"type":"own","value":{"z":[1,{"b":1,"a":"x\ny\n"}],"a":null}}],"package":"b","unknown":{"z":1,"a":2},"image":"q/b:2"}
{"schema":"olm.bundle","package":"b","name":"b.v10","image":"q/b:10","relatedImages":[{"image":"i","name":"n"}],"properties":[{"type":"olm.package","value":{"packageName":"b","version":"10.0.0"}}]}
{"schema":"olm.bundle","package":"b","name":"b.v1-unversioned","image":"q/b:1"}
{"schema":"olm.deprecations","package":"b","entries":[{"message":"gone\nsoon","reference":{"name":"s","schema":"olm.channel"}}]}
{"schema":"olm.channel","package":"b","name":"s","entries":[{"skips":["b.v1","yes"],"name":"b.v2","x":1,"skipRange":"<2.0.0"},{"name":"b.v10","replaces":"b.v2"}],"properties":[]}
{"schema":"olm.channel","package":"b","name":"a","entries":null}
{"schema":"olm.package","name":"b","icon":{"mediatype":"image/png","base64data":""},"defaultChannel":"s","description":"two\nlines <b>"}
{"schema":"custom","package":"b","name":"x","v":2}
{"schema":"custom","package":"b","name":"x","v":1}
{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"zzz"}
`

// TestWriteGolden compares the order and layout of written catalogs with golden
// files (A12).
func TestWriteGolden(t *testing.T) {
	c, err := LoadReader(t.Context(), strings.NewReader(messy), "messy.json", &LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	g := golden.Archive{File: "write.txtar"}
	for _, ext := range []string{"yaml", "json", "jsonl"} {
		text := written(t, c, syntaxes[ext])
		g.Add("messy."+ext, string(text))
		again, err := rewritten(t.Context(), text, syntaxes[ext])
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("%s: formatted again (-want +got):\n%s%v", ext, cmp.Diff(string(text), string(again)), err)
		}
	}
	made := &Catalog{
		Packages: []*Package{{Meta: Meta{Schema: SchemaPackage, Name: "m", Package: "m"}, DefaultChannel: "s"}},
		Channels: []*Channel{{Meta: Meta{Schema: SchemaChannel, Name: "s", Package: "m"}, Entries: []Entry{{Name: "m.v1", Replaces: "m.v0", Skips: []string{"x"}, SkipRange: "<1.0.0"}}}},
		Bundles: []*Bundle{{Meta: Meta{Schema: SchemaBundle, Name: "m.v1", Package: "m", Properties: []prop{{Type: "t", Value: []byte(`{"b":1,"a":2}`)}}}, Image: "q/m",
			RelatedImages: []RelatedImage{{Name: "n", Image: "i"}}}},
		Deprecations: []*Deprecations{{Meta: Meta{Schema: SchemaDeprecations, Package: "m"}, Entries: []Deprecation{{Schema: SchemaPackage, Message: "bye"}}}},
		Others:       []*Other{{Meta: Meta{Schema: "own", Name: "o"}}},
	}
	g.Add("made-by-a-program.yaml", string(written(t, made, YAML)))
	g.Check(t)
}

// TestWriteErrors checks that Write returns the errors of the source, the
// writer and the context.
func TestWriteErrors(t *testing.T) {
	tree := files("a.json", pkgA)
	c, err := Load(t.Context(), tree, nil)
	if err != nil {
		t.Fatal(err)
	}
	tree["a.json"].Data = []byte("gone")
	if err := Write(t.Context(), &bytes.Buffer{}, c, nil); err == nil || !strings.Contains(err.Error(), "the file has changed") {
		t.Errorf("changed source: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Write(ctx, &bytes.Buffer{}, c, nil); err != context.Canceled {
		t.Errorf("ended context: %v", err)
	}
	if out, err := rewritten(t.Context(), []byte("# nothing\n"), YAML); err != nil || len(out) != 0 {
		t.Errorf("an empty text: %q, %v", out, err)
	}
}

// rewritten loads the text of a catalog file and returns what Write writes.
func rewritten(ctx context.Context, text []byte, syntax Syntax) ([]byte, error) {
	c, err := LoadReader(ctx, bytes.NewReader(text), "f", &LoadOptions{KeepAll: true, AllowEmpty: true, RefuseTemplates: true})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = Write(ctx, &out, c, &WriteOptions{Syntax: syntax})
	return out.Bytes(), err
}

func TestCompose(t *testing.T) {
	load := func(text string) *Catalog {
		c, err := LoadReader(t.Context(), strings.NewReader(text), "f", nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := load(pkgA+channel+bundle), load(strings.ReplaceAll(pkgA+channel+bundle, `"a`, `"b`)+`{"schema":"own"}`)
	ab, err := Merge(nil, b, a)
	if err != nil {
		t.Fatal(err)
	}
	if names := ab.PackageNames(); !slices.Equal(names, []string{"a", "b"}) || ab.Len() != 7 {
		t.Errorf("%d blobs of %v", ab.Len(), names)
	}
	onlyA, err := Extract(ab, "a")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := written(t, onlyA, JSONLines), written(t, a, JSONLines); !bytes.Equal(got, want) {
		t.Errorf("extracted:\n%s\nwant\n%s", got, want)
	}
	g := golden.Archive{File: "compose.txtar"}
	_, err = Merge(nil, a, b, a)
	g.Add("merge-duplicates", errText(err))
	_, err = Extract(ab, "a", "x", "y")
	g.Add("extract-unknown", errText(err))
	g.Check(t)
}

// FuzzRoundTrip writes every text that can be loaded, in each syntax, and
// checks that loading and writing it again gives the same text.
func FuzzRoundTrip(f *testing.F) {
	f.Add(messy)
	f.Add("---\nschema: x\nkey: &a [yes, 0777, 1_000, ~, 2001-01-01, 1e3, .inf]\nother: *a\ntext: |+\n  a\n\n\n")
	f.Add("{schema: x, ? a : b, '': \"\\u2028\", c: {}, d: []}")
	limits := &Limits{DocumentSize: 1 << 16, Depth: 100}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := LoadReader(context.Background(), strings.NewReader(text), "f", &LoadOptions{KeepAll: true, Limits: limits})
		if err != nil {
			return
		}
		want := written(t, c, JSONLines)
		for ext, s := range syntaxes {
			out := written(t, c, s)
			again, err := LoadReader(context.Background(), bytes.NewReader(out), "g", &LoadOptions{KeepAll: true, AllowEmpty: true, Limits: &Limits{Depth: 200}})
			if err != nil {
				t.Fatalf("%s: %v in\n%s", ext, err, out)
			}
			if got := written(t, again, JSONLines); !bytes.Equal(got, want) {
				t.Fatalf("%s (-want +got):\n%s", ext, cmp.Diff(string(want), string(got)))
			}
		}
	})
}
