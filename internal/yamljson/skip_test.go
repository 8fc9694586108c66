package yamljson

import (
	"reflect"
	"strings"
	"testing"
)

func heavy(typ []byte) bool { return strings.HasPrefix(string(typ), "heavy") }

var skipping = []struct {
	name, doc, want string
}{
	{"after the type",
		"properties:\n- type: heavy\n  value:\n    a: b\n- type: light\n  value:\n    c: d\nname: o\n",
		`{"properties":[{"type":"heavy","value":null},{"type":"light","value":{"c":"d"}}],"name":"o"}`},
	{"before the type",
		"properties:\n- value:\n    a: b\n  type: heavy\n- value:\n    c: d\n  type: light\nname: o\n",
		`{"properties":[{"value":null,"type":"heavy"},{"value":{"c":"d"},"type":"light"}],"name":"o"}`},
	{"indented sequence",
		"properties:\n  - type: heavy\n    value:\n      a: |\n        b\n\n\n        c\n\n  - type: heavy.2\n    value: x\n",
		`{"properties":[{"type":"heavy","value":null},{"type":"heavy.2","value":null}]}`},
	{"sequence at the column of its key",
		"properties:\n- type: heavy\n  value:\n  - a\n  - b: c\n    d: e\n  f: g\n- type: light\n  value:\n  - a\n",
		`{"properties":[{"type":"heavy","value":null,"f":"g"},{"type":"light","value":["a"]}]}`},
	{"sequence after a comment",
		"properties:\n- type: heavy\n  value: # c\n\n  # d\n  - a\n  f: g\n",
		`{"properties":[{"type":"heavy","value":null,"f":"g"}]}`},
	{"comments between",
		"properties:\n- type: heavy\n  value:\n    a: b\n# c\n    d: e\n  # f\n- value:\n  - a\n# b\n  # c\n  - d\n# e\n  type: heavy\n# g\n",
		`{"properties":[{"type":"heavy","value":null},{"value":null,"type":"heavy"}]}`},
	{"on the line", "properties:\n- type: heavy\n  value: 'a'\n- type: heavy\n  value: {a: b}\n- value: \"c\n    d\"\n  type: heavy",
		`{"properties":[{"type":"heavy","value":null},{"type":"heavy","value":null},{"value":null,"type":"heavy"}]}`},
	{"literal text", "properties:\n- value: |\n    type: light\n\n    x\n  type: heavy\nz: |-\n  y\n",
		`{"properties":[{"value":null,"type":"heavy"}],"z":"y"}`},
	{"what Convert cannot read", "properties:\n- type: heavy\n  value:\n    b: c\n      : d\n    \"1\": {}\n    e: |\n      f\n     \t%\n- type: light\n",
		`{"properties":[{"type":"heavy","value":null},{"type":"light"}]}`},
	{"quotes that go on",
		"properties:\n- type: heavy\n  value:\n    a: \"b \\\"\n      c\\\\\"\n    'd': 'e ''\n\n      f'\n    - \"g\": h\n- type: light\n",
		`{"properties":[{"type":"heavy","value":null},{"type":"light"}]}`},
	{"quotes that continue at any column",
		"properties:\n- type: heavy\n  value: \"x\n- type: light\n  value: {a: b} #\"\n- value:\n  - a: 'x\n  type: light\n'\n  type: heavy\n",
		`{"properties":[{"type":"heavy","value":null},{"value":null,"type":"heavy"}]}`},
	{"quotes and brackets in text",
		"properties:\n- type: heavy\n  value:\n    a: |-\n      [\n        \"b\n    c: don't\n      [ \"\n      'd\n    - >2+\n      {\n- type: light\n",
		`{"properties":[{"type":"heavy","value":null},{"type":"light"}]}`},
	{"no value, or an empty one", "properties:\n- type: heavy\n- type: heavy\n  value:\n- value:\n  type: heavy\n- value:\n- type: heavy\n  value:",
		`{"properties":[{"type":"heavy"},{"type":"heavy","value":null},{"value":null,"type":"heavy"},{"value":null},{"type":"heavy","value":null}]}`},
	{"quoted names", "\"properties\":\n- 'type': \"heavy\"\n  \"value\":\n    a: b\n",
		`{"properties":[{"type":"heavy","value":null}]}`},
	{"only at the top", "spec:\n  properties:\n  - type: heavy\n    value: a\nitems:\n- type: heavy\n  value: a\n",
		`{"spec":{"properties":[{"type":"heavy","value":"a"}]},"items":[{"type":"heavy","value":"a"}]}`},
	{"only in items", "properties:\n- type: light\n  value:\n    type: heavy\n    value: a\n- - type: heavy\n    value: b\n",
		`{"properties":[{"type":"light","value":{"type":"heavy","value":"a"}},[{"type":"heavy","value":"b"}]]}`},
	{"only in a sequence", "properties:\n  type: heavy\n  value: a\n", `{"properties":{"type":"heavy","value":"a"}}`},
	{"only for strings", "properties:\n- type: 1\n  value: a\n- type:\n  - heavy\n  value: b\n- type: |\n    heavy\n  value: c\n",
		`{"properties":[{"type":1,"value":"a"},{"type":["heavy"],"value":"b"},{"type":"heavy\n","value":"c"}]}`},
	{"a type on several lines", "properties:\n- value: a\n  type: heavy\n    duty\n- value: b\n  type: light\n\n    heavy\n",
		`{"properties":[{"value":"a","type":"heavy duty"},{"value":"b","type":"light\nheavy"}]}`},
	{"other keys between", "properties:\n- value: a\n  x: b\n  type: heavy\n- type: heavy\n  x: c\n  value:\n    d: e\n  z: f\n",
		`{"properties":[{"value":"a","x":"b","type":"heavy"},{"type":"heavy","x":"c","value":null,"z":"f"}]}`},
	{"nearly the end", "properties:\n- type: heavy\n  value:\n    a: b\n   ", `{"properties":[{"type":"heavy","value":null}]}`},
	{"flow items", "properties:\n- {type: heavy, value: a}\n", `{"properties":[{"type":"heavy","value":"a"}]}`},
}

func TestSkipValue(t *testing.T) {
	for _, c := range skipping {
		t.Run(c.name, func(t *testing.T) {
			for _, doc := range []string{c.doc, "# first\n\n" + c.doc, strings.TrimSuffix(c.doc, "\n")} {
				out, ok := Convert(nil, []byte(doc), &Options{SkipValue: heavy})
				if !ok {
					t.Fatalf("Convert(%q) fell back", doc)
				}
				if diff := diffJSON(out, []byte(c.want)); diff != "" {
					t.Errorf("Convert(%q)\n got %s\nwant %s", doc, out, c.want)
				}
			}
		})
	}
}

// smuggled lists documents with skipped values that continue beyond the lines of their indentation.
var smuggled = []string{
	"properties:\n- type: heavy\n  value: \"x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- type: heavy\n  value: 'x\n- type: light\n  value: {g: h} #'\n",
	"properties:\n- type: heavy\n  value: [x, \"\n- type: light\n  value: {g: h} #\"]\n",
	"properties:\n- type: heavy\n  value: {x: 'y\n- type: light\n  value: {g: h} #'}\n",
	"properties:\n- type: heavy\n  value:\n    a: \"x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- type: heavy\n  value:\n    a:\n    - b: 'x\n- type: light\n  value: {g: h} #'\n",
	"properties:\n- type: heavy\n  value:\n    - - 'x\n- type: light\n  value: {g: h} #'\n",
	"properties:\n- type: heavy\n  value:\n    a: [b,\n'\n- type: light\n  value: {g: h} #']\n",
	"properties:\n- type: heavy\n  value:\n    'x\n- type: light\n  value: {g: h} #'\n",
	"properties:\n- type: heavy\n  value:\n    a: b\n      \"c\n    d: \"x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- type: heavy\n  value:\n    a: # b: |\n      \"x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- type: heavy\n  value:\n    a:\t\"b: x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- type: heavy\n  value:\n    ? \"x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- type: heavy\n  value: &a \"x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- type: heavy\n  value: !!str \"x\n- type: light\n  value: {g: h} #\"\n",
	"properties:\n- value: \"x\n  type: heavy\n- value: {g: h} #\"\n  type: light\n",
	"properties:\n- type: heavy\n  value: x\r- type: light\r  value: {g: h}\n",
	"properties:\n- type: heavy\n  value: x\u0085- type: light\u0085  value: {g: h}\n",
	"properties:\n- type: heavy\n  value: |\n    x\u2028- type: light\u2029  value: {g: h}\n",
	"properties:\n- type: heavy\n  value:\n    a: |\n      \"\n    b: \"x\n- type: light\n  value: {g: h} #\"\n",
}

// TestSkipValueAgrees checks that a value ends at the same place whether it is skipped or read.
func TestSkipValueAgrees(t *testing.T) {
	for _, doc := range smuggled {
		if _, err := Slow(t.Context(), []byte(doc), nil); err != nil {
			t.Errorf("the test document %q is not YAML: %v", doc, err)
		}
		checkSkipped(t, []byte(doc), heavy)
	}
}

func TestSkipValueRefused(t *testing.T) {
	for _, doc := range []string{
		"properties:\n- type: heavy\n  value:\n    a: b\n   c\n- x\n: y\n",
		"properties:\n- type: heavy\n  value:\n    a: b\n  value: c\n",
		"properties:\n- type: heavy\n  value:\n    a: b\n type: c\n",
		"properties:\n- type: heavy\n  value:\n    a: b\n  type: c\n",
		"properties:\n- type: heavy\n  value:\n    a: b\n# x\u0085name: y\n",
	} {
		if out, ok := Convert(nil, []byte(doc), &Options{SkipValue: heavy}); ok {
			t.Errorf("Convert(%q) = %s, want a fallback", doc, out)
		}
	}
}

// checkSkipped compares a conversion that skips values with the full parser. Documents that the parser refuses are
// ignored, because skipped text is not checked.
func checkSkipped(t testing.TB, doc []byte, skip func([]byte) bool) {
	t.Helper()
	short, ok := Convert(nil, doc, &Options{SkipValue: skip})
	if !ok {
		if _, ok := Convert(nil, doc, nil); ok {
			t.Fatalf("Convert(%q) falls back only when it skips", doc)
		}
		return
	}
	full, err := Slow(t.Context(), doc, nil)
	if err != nil {
		return
	}
	want, err := decode(full)
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(short)
	if err != nil {
		t.Fatal(err)
	}
	blank(want, skip)
	blank(got, skip)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("Convert(%q) skipping\n got %s\nwant %s", doc, short, full)
	}
}

// blank sets the values that may be skipped to null. Some are not skipped: if the type follows too late, or the end is
// not certain.
func blank(doc any, skip func([]byte) bool) {
	top, _ := doc.(map[string]any)
	properties, _ := top["properties"].([]any)
	for _, x := range properties {
		p, ok := x.(map[string]any)
		if !ok {
			continue
		}
		if typ, ok := p["type"].(string); ok && skip([]byte(typ)) {
			if _, has := p["value"]; has {
				p["value"] = nil
			}
		}
	}
}
