package yamlout

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

func TestAppendYAML(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`{"a":1,"b":[],"c":{},"d":null,"e":true,"f":false}`, "a: 1\nb: []\nc: {}\nd: null\ne: true\nf: false\n"},
		{`{"a":[{"b":[{"c":1,"d":2},[3,[4]],"x"]},{}]}`, "a:\n- b:\n  - c: 1\n    d: 2\n  - - 3\n    - - 4\n  - x\n- {}\n"},
		{`{"a":{"b":{"c":"d"}}}`, "a:\n  b:\n    c: d\n"},
		{`{"a":"1.2.3","b":"1.2","c":"yes","d":"","e":"a: b","f":"a #b","g":"~","h":"2001-01-01","i":"1.2.3-rc.1+x","j":"0x1f","k":"v1","l":">=1.0.0","m":"y"}`,
			"a: 1.2.3\nb: \"1.2\"\nc: \"yes\"\nd: \"\"\ne: \"a: b\"\nf: \"a #b\"\ng: \"~\"\nh: \"2001-01-01\"\ni: 1.2.3-rc.1+x\nj: \"0x1f\"\nk: v1\nl: \">=1.0.0\"\nm: \"y\"\n"},
		{`{"a":"x\ny\n","b":"x\n\n y","c":"x\n\n\n","d":" x\ny","e":"x\r\ny","f":"x\n \ny","g":["x\ny"]}`,
			"a: |\n  x\n  y\nb: |-\n  x\n\n   y\nc: |+\n  x\n\n\nd: \" x\\ny\"\ne: \"x\\r\\ny\"\nf: \"x\\n \\ny\"\ng:\n- |-\n  x\n  y\n"},
		{`{"yes":1,"1":2,"a b":3,"":4}`, "\"yes\": 1\n\"1\": 2\na b: 3\n\"\": 4\n"},
		{`[]`, "[]\n"}, {`"x"`, "x\n"}, {`[1,"a\nb"]`, "- 1\n- |-\n  a\n  b\n"},
	} {
		n, err := Parse([]byte(c.json))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(n.AppendYAML(nil, Readable)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.json, got, c.want)
		}
	}
}

func TestNode(t *testing.T) {
	n, err := Parse([]byte(`{"b":"<\u003c\ud800","a":1.0,"b2":[{"z":1,"y":2}],"a":2}`))
	if err != nil {
		t.Fatal(err)
	}
	n.Set("c", String("x"))
	n.Set("b2", List(Object(Member{"z", String("1")}, Member{"y", n.Get("a")})))
	n.OrderAll()
	n.Order("c")
	if got, want := string(n.AppendJSON(nil)), `{"c":"x","a":2,"b":"<\u003c\ud800","b2":[{"y":2,"z":"1"}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	n.Set("c", nil)
	n.Set("none", nil)
	if n.Get("c") != nil {
		t.Error("c was removed and is there")
	}
	for _, bad := range []string{"", "{", `{"a"`, `[1,`, `{"a":}`, "[", "nul"} {
		if _, err := Parse([]byte(bad)); err == nil {
			t.Errorf("%q parses", bad)
		}
	}
}

// FuzzYAML writes any JSON as YAML that sigs.k8s.io/yaml reads as the same.
func FuzzYAML(f *testing.F) {
	f.Add(`{"a":["x\ny",{"b":{}}],"c":"yes","d":1.5,"e":"1:20"}`)
	f.Add(`["\u0085\u2028\ufeff\u0000","| x\n","- a","? b","%c","@","a\t\n b\n\n","012","1_000","0b1",".5","+1","=","<<"]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || !json.Valid([]byte(text)) || strings.Contains(text, `\u`) && strings.Contains(strings.ToLower(text), `\ud`) {
			t.Skip()
		}
		n, err := Parse([]byte(text))
		if err != nil {
			t.Skip()
		}
		want := decode(t, n.AppendJSON(nil))
		for _, style := range []Style{Readable, Quoted} {
			doc := n.AppendYAML(nil, style)
			back, err := yaml.YAMLToJSON(doc)
			if err != nil {
				if strings.Contains(err.Error(), "unsupported value") || strings.Contains(err.Error(), "exceeded max depth") {
					t.Skip() // 1e999
				}
				t.Fatalf("%v in\n%s", err, doc)
			}
			if got := decode(t, back); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s became\n%s, read as\n%s", text, doc, back)
			}
		}
	})
}

func decode(t *testing.T, text []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&v); err != nil {
		t.Skip() // 1e999
	}
	return v
}
