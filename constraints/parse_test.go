package constraints

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/property"
)

// documented holds the examples of OLM's documentation as JSON.
var documented = []struct{ name, raw string }{
	{"cel", `{"failureMessage": "require to have \"certified\"", "cel": {"rule": "properties.exists(p, p.type == \"certified\")"}}`},
	{"cel with two rules", `{"failureMessage": "require to have \"certified\" and \"stable\" properties",
		"cel": {"rule": "properties.exists(p, p.type == \"certified\") && properties.exists(p, p.type == \"stable\")"}}`},
	{"all", `{"failureMessage": "All are required for Red because...", "all": {"constraints": [
		{"failureMessage": "Package blue is needed for...", "package": {"name": "blue", "versionRange": ">=1.0.0"}},
		{"failureMessage": "GVK Green/v1 is needed for...", "gvk": {"group": "greens.example.com", "version": "v1", "kind": "Green"}}]}}`},
	{"any", `{"failureMessage": "Any are required for Red because...", "any": {"constraints": [
		{"gvk": {"group": "blues.example.com", "version": "v1beta1", "kind": "Blue"}},
		{"gvk": {"group": "blues.example.com", "version": "v1beta2", "kind": "Blue"}},
		{"gvk": {"group": "blues.example.com", "version": "v1", "kind": "Blue"}}]}}`},
	{"not", `{"all": {"constraints": [
		{"failureMessage": "Package blue is needed for...", "package": {"name": "blue", "versionRange": ">=1.0.0"}},
		{"failureMessage": "Cannot be required for Red because...", "not": {"constraints": [
			{"gvk": {"group": "greens.example.com", "version": "v1alpha1", "kind": "greens"}}]}}]}}`},
	{"nested", `{"failureMessage": "Required for Red because...", "any": {"constraints": [
		{"all": {"constraints": [
			{"package": {"name": "blue", "versionRange": ">=1.0.0"}},
			{"gvk": {"group": "blues.example.com", "version": "v1", "kind": "Blue"}}]}},
		{"all": {"constraints": [
			{"package": {"name": "blue", "versionRange": "<1.0.0"}},
			{"gvk": {"group": "blues.example.com", "version": "v1beta1", "kind": "Blue"}}]}}]}}`},
}

// TestDocumented compares the printed and marshaled examples with a golden file
// (D3).
func TestDocumented(t *testing.T) {
	var b strings.Builder
	for _, e := range documented {
		x := mustParse(t, e.raw)
		j, err := appendJSON(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n\t%s\n\t%s\n", e.name, x, j)
		for n := range Walk(x) {
			if n.Message() != "" {
				fmt.Fprintf(&b, "\t%q says %s\n", n.Message(), n)
			}
		}
	}
	golden.File(t, "documented.golden", b.String())
}

// TestParseErrors compares the text of every error with a golden file (D3, D4,
// H7, H8, H20).
func TestParseErrors(t *testing.T) {
	var b strings.Builder
	c := NewCompiler(nil)
	for _, raw := range []string{
		``, ` `, `null`, `5`, `"text"`, `true`, `[]`, `[[[[[[[[`, "{", "\ufeff{}", `// c`, `{'gvk':{}}`,
		`{}`,
		`{"failureMessage":"x"}`,
		`{"failureMessage":5,"gvk":{"group":"g.io","version":"v1","kind":"K"}}`,
		`{"failureMessage":null,"gvk":{"group":"g.io","version":"v1","kind":"K"}}`,
		`{"foo":{}}`,
		`{"GVK":{"group":"g.io","version":"v1","kind":"K"}}`,
		`{"packag":{}}`,
		`{"failuremessage":"x"}`,
		`{"nto":{}}`,
		`{"gvk":null}`,
		`{"gvk":"K.v1.g"}`,
		`{"gvk":{}}`,
		`{"gvk":{"group":"g.io","version":"v1"}}`,
		`{"gvk":{"group":"","version":"v1","kind":"K"}}`,
		`{"gvk":{"group":"g.io","version":1,"kind":"K"}}`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K","plural":"ks"}}`,
		`{"gvk":{"group":"g.io","Version":"v1","kind":"K"}}`,
		`{"gvk":{"group":"G_io","version":"1","kind":"K"}}`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K"},"gvk":{"group":"g.io","version":"v1","kind":"K"}}`,
		`{"gvk":{"group":"g.io","group":"h.io","version":"v1","kind":"K"}}`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K"},"package":{"packageName":"p","versionRange":">=1.0.0"}}`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K"}} {}`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K"}}x`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K"}`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K`,
		`{"gvk":{"group":"g.io","version":"v1","kind":"K"},}`,
		"{\"gvk\":{\"group\":\"\xff\"}}",
		`{"package":{"versionRange":">=1.0.0"}}`,
		`{"package":{"packageName":"","versionRange":">=1.0.0"}}`,
		`{"package":{"packageName":"p"}}`,
		`{"package":{"packageName":"p","versionRange":1}}`,
		`{"package":{"packageName":"p","versionRange":""}}`,
		`{"package":{"packageName":"p","versionRange":"^1.2.0"}}`,
		`{"package":{"packageName":"p","name":"p","versionRange":">=1.0.0"}}`,
		`{"package":{"packageName":"p","version":">=1.0.0"}}`,
		`{"package":{"pkgName":"p","versionRanges":">=1.0.0"}}`,
		`{"cel":{}}`,
		`{"cel":"true"}`,
		`{"cel":{"rule":true}}`,
		`{"cel":{"rule":""}}`,
		`{"cel":{"rule":" "}}`,
		`{"cel":{"rule":"1"}}`,
		`{"cel":{"rule":"dyn(true)"}}`,
		`{"cel":{"rule":"properties[0].value"}}`,
		`{"cel":{"rule":"properties"}}`,
		`{"cel":{"rule":"foo == 1"}}`,
		`{"cel":{"rule":"a && b && c && d && e"}}`,
		`{"cel":{"rule":"properties.exists(p, p.type = 'x')"}}`,
		`{"cel":{"rule":"'a'.lowerAscii() == 'a'"}}`,
		`{"cel":{"rule":"semver_compare('1.0.0') == 0"}}`,
		`{"cel":{"rule":"'unterminated"}}`,
		`{"all":{}}`,
		`{"all":[]}`,
		`{"all":{"constraints":null}}`,
		`{"all":{"constraints":{}}}`,
		`{"all":{"constraints":[]}}`,
		`{"all":{"constraints":[null]}}`,
		`{"all":{"constraints":[{}]}}`,
		`{"all":{"constraints":["x"]}}`,
		`{"all":{"constraints":[`,
		`{"all":{"constraints":[{"gvk":{"group":"g.io","version":"v1","kind":"K"}},]}}`,
		`{"all":{"constraint":[]}}`,
		`{"all":{"failureMessage":"x","constraints":[{"gvk":{"group":"g.io","version":"v1","kind":"K"}}]}}`,
		`{"all":{"gvk":{"group":"g.io","version":"v1","kind":"K"}}}`,
		`{"any":{"constraints":[{"gvk":{"group":"g.io","version":"v1","kind":"K"}},{"not":{"constraints":[{"package":{"name":"p","versionRange":">=1.0"}}]}}]}}`,
		`{"any":{"constraints":[{"a/b~c":1}]}}`,
		`{"any":{"constraints":` + strings.Repeat(`[{"any":{"constraints":`, 3) + `1`,
	} {
		x, err := c.Parse([]byte(raw))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%s) = %v, %v; want an *Error", raw, x, err)
			continue
		}
		fmt.Fprintf(&b, "%s\n\t%v\n", raw, err)
	}
	golden.File(t, "errors.golden", b.String())
}

func TestFromProperty(t *testing.T) {
	c := NewCompiler(nil)
	for _, tt := range []struct {
		name string
		p    property.Property
		want string // the constraint, or the error
	}{
		{"D2 gvk", property.New(property.TypeGVKRequired, property.GVK{Group: "g.io", Version: "v1", Kind: "K"}), "gvk K (g.io/v1)"},
		{"D2 package", property.New(property.TypePackageRequired, property.PackageRequired{PackageName: "p", VersionRange: ">=1.0.0 <2.0.0"}), "package p >=1.0.0 <2.0.0"},
		{"H10 label", property.New(property.TypeLabelRequired, property.Label{Label: "x"}), "label x"},
		{"D2 constraint", property.Property{Type: property.TypeConstraint, Value: []byte(`{"cel":{"rule":"true"}}`)}, "cel `true`"},
		{"H10 other types require nothing", property.Property{Type: property.TypeMaxOpenShiftVersion, Value: []byte(`"4.19"`)}, "-"},
		{"H10 unknown types require nothing", property.Property{Type: "olm.something.required", Value: []byte(`1`)}, "-"},
		{"D2 bad range", property.New(property.TypePackageRequired, property.PackageRequired{PackageName: "p", VersionRange: ">=1.0"}),
			`olm.package.required: /versionRange: invalid range ">=1.0": a version has three numbers: write ">=1.0.0"`},
		{"A13 bad gvk", property.New(property.TypeGVKRequired, property.GVK{Group: "g.io", Version: "1", Kind: "K"}),
			`olm.gvk.required: /version: version "1": want lower-case letters, digits and '-', beginning with a letter and ending with a letter or digit, such as v1alpha1`},
		{"D2 incomplete gvk", property.Property{Type: property.TypeGVKRequired, Value: []byte(`{"group":"g.io","kind":"K"}`)},
			`olm.gvk.required: missing key "version"`},
		{"D2 wrong type", property.Property{Type: property.TypePackageRequired, Value: []byte(`{"packageName":1}`)},
			`olm.package.required: /packageName: want a string, found a number`},
		{"H10 bad label", property.Property{Type: property.TypeLabelRequired, Value: []byte(`"x"`)},
			`olm.label.required: want an object with "label", found a string`},
		{"D3 no value", property.Property{Type: property.TypeConstraint},
			`olm.constraint: no value: want an object with one of gvk, package, cel, all, any, not`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, ok, err := c.FromProperty(tt.p)
			got := "-"
			switch {
			case err != nil:
				var e *Error
				if !errors.As(err, &e) || e.Type != tt.p.Type {
					t.Errorf("error %#v; want an *Error of type %s", err, tt.p.Type)
				}
				got = err.Error()
			case ok:
				got = x.String()
			}
			if got != tt.want {
				t.Errorf("FromProperty(%s %s):\n got %s\nwant %s", tt.p.Type, tt.p.Value, got, tt.want)
			}
			if ok != property.IsRequirement(tt.p.Type) {
				t.Errorf("FromProperty(%s): ok = %t", tt.p.Type, ok)
			}
			if ok && err == nil {
				back, err := ToProperty(x)
				if err != nil {
					t.Fatal(err)
				}
				y, _, err := c.FromProperty(back)
				if err != nil || !Equal(x, y) {
					t.Errorf("FromProperty(ToProperty(%s)) = %v, %v", x, y, err)
				}
			}
		})
	}
}

func TestString(t *testing.T) {
	pkg := func(name, rng string) Expr {
		r, err := ParseRange(rng)
		if err != nil {
			t.Fatal(err)
		}
		return &Package{Name: name, Range: r}
	}
	label := &Label{Label: "x"}
	for _, tt := range []struct {
		x    Expr
		want string
	}{
		{pkg("etcd", ">=0.9.0"), "package etcd >=0.9.0"},
		{pkg("etcd", ">=0.9.0 <1.0.0 || 2.x"), "package etcd >=0.9.0 <1.0.0 || 2.x"},
		{pkg("a b", " >=0.9.0"), `package "a b" " >=0.9.0"`},
		{&Package{}, `package "" ""`},
		{label, "label x"},
		{&Label{Label: "a, b"}, `label "a, b"`},
		{&All{Of: []Expr{label}}, "all(label x)"},
		{&Any{Of: []Expr{label, label}}, "any(label x, label x)"},
		{&Not{Of: []Expr{label}}, "not label x"},
		{&Not{Of: []Expr{label, label}}, "not(label x, label x)"},
		{&Not{Of: []Expr{&Not{Of: []Expr{&Any{Of: []Expr{label}}}}}}, "not not any(label x)"},
		{&All{}, "all()"},
		{&All{Of: []Expr{nil}}, "all(<nil>)"},
		{&Not{Of: []Expr{nil}}, "not(<nil>)"},
		{&CEL{Rule: "true"}, "cel `true`"},
		{&CEL{Rule: "`a`\n"}, "cel \"`a`\\n\""},
	} {
		if got := tt.x.String(); got != tt.want {
			t.Errorf("%#v.String() = %s, want %s", tt.x, got, tt.want)
		}
	}
}

func TestAppendJSONErrors(t *testing.T) {
	for _, x := range []Expr{nil, &All{}, &Any{Of: []Expr{nil}}, &Label{Label: "x"}, &Not{Of: []Expr{&Label{Label: "x"}}}} {
		if b, err := appendJSON(nil, x); err == nil {
			t.Errorf("appendJSON(%#v) = %s; want an error", x, b)
		}
	}
}

func TestWalk(t *testing.T) {
	x := mustParse(t, documented[5].raw)
	var got []string
	for n := range Walk(x) {
		got = append(got, fmt.Sprintf("%T", n)[len("*constraints."):])
		if len(got) == 6 {
			break
		}
	}
	want := []string{"Any", "All", "Package", "GVK", "All", "Package"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("Walk: %s", d)
	}
}

func TestNear(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"any", "any", true}, {"ANY", "any", true}, {"ayn", "any", true}, {"an", "any", true}, {"anyy", "any", true},
		{"amy", "any", true}, {"xany", "any", true}, {"an", "anyy", false}, {"yna", "any", false}, {"", "a", false}, {"foo", "any", false},
	} {
		if got := near(tt.a, tt.b); got != tt.want {
			t.Errorf("near(%q, %q) = %t", tt.a, tt.b, got)
		}
	}
}
