package property

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/google/go-cmp/cmp"
)

func TestParsers(t *testing.T) {
	wrap := func(v any, err error) (string, error) { return fmt.Sprintf("%+v", v), err }
	for _, tt := range []struct {
		name, typ, in, want string
	}{
		{"A13 gvk", TypeGVK, `{"group":"a.b","version":"v1","kind":"K"}`, "K (a.b/v1)"},
		{"A13 gvk, order, space and escapes do not matter", TypeGVK, " {\n\"kind\" : \"\\u004b\",\t\"group\":\"a.b\" , \"version\":\"v1\" }\r\n", "K (a.b/v1)"},
		{"A13 unknown keys are ignored", TypeGVK, `{"description":{"x":[1]},"group":"a.b","kind":"K","version":"v1"}`, "K (a.b/v1)"},
		{"A13 a key beside its other spelling", TypeGVK, `{"Group":"X","group":"a.b","kind":"K","version":"v1"}`, "K (a.b/v1)"},
		{"A13 gvk.required", TypeGVKRequired, `{"group":"a.b","version":"v1","kind":"K"}`, "K (a.b/v1)"},
		{"A13 not ASCII", TypeGVK, `{"group":"ü","version":"v1","kind":"K"}`, "K (ü/v1)"},
		{"A8 package", TypePackage, `{"packageName":"etcd","version":"0.9.0"}`, "{PackageName:etcd Version:0.9.0 Release:}"},
		{"A8 package with release", TypePackage, `{"packageName":"etcd","version":"0.9.0","release":"2"}`, "{PackageName:etcd Version:0.9.0 Release:2}"},
		{"A8 package with empty release", TypePackage, `{"packageName":"etcd","version":"0.9.0","release":""}`, "{PackageName:etcd Version:0.9.0 Release:}"},
		{"A13 package.required", TypePackageRequired, `{"packageName":"etcd","versionRange":">=1 <2"}`, "{PackageName:etcd VersionRange:>=1 <2}"},
		{"H10 label", TypeLabel, `{"label":"x y"}`, "{Label:x y}"},
		{"H10 label.required", TypeLabelRequired, `{"label":"x y"}`, "{Label:x y}"},
		{"C7 string", TypeMaxOpenShiftVersion, `"4.19"`, "4.19"},
		{"C7 patch and pre-release do not count", TypeMaxOpenShiftVersion, `"4.19.3-rc1"`, "4.19"},
		{"C7 number by its digits", TypeMaxOpenShiftVersion, `4.10`, "4.10"},
		{"C7 a v in front", TypeMaxOpenShiftVersion, ` "v4.8" `, "4.8"},
		{"C7 major alone", TypeMaxOpenShiftVersion, `4`, "4.0"},
		{"A13 kubeversion", TypeKubeVersion, `{"version":"1.16.0"}`, "1.16.0"},
		{"A13 kubeversion without patch", TypeKubeVersion, `{"version":"1.16"}`, "1.16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := wrap(parseAny(tt.typ, []byte(tt.in)))
			if err != nil || got != tt.want {
				t.Errorf("parse %s %s = %s, %v; want %s", tt.typ, tt.in, got, err, tt.want)
			}
		})
	}
}

func parseAny(typ string, raw []byte) (any, error) {
	switch typ {
	case TypeGVK:
		return Parse[GVK](Property{TypeGVK, raw})
	case TypeGVKRequired:
		return Parse[GVK](Property{TypeGVKRequired, raw})
	case TypePackage:
		return Parse[Package](Property{TypePackage, raw})
	case TypePackageRequired:
		return Parse[PackageRequired](Property{TypePackageRequired, raw})
	case TypeLabel:
		return Parse[Label](Property{TypeLabel, raw})
	case TypeLabelRequired:
		return Parse[Label](Property{TypeLabelRequired, raw})
	case TypeMaxOpenShiftVersion:
		return ParseMaxOpenShiftVersion(raw)
	case TypeKubeVersion:
		return ParseKubeVersion(raw)
	}
	return ParseList(raw)
}

// TestErrors keeps the wording of every error in testdata/errors.golden, one
// input and its error after the other.
func TestErrors(t *testing.T) {
	var b strings.Builder
	for _, in := range []struct{ typ, raw string }{
		{TypeGVK, ``},
		{TypeGVK, ` `},
		{TypeGVK, `null`},
		{TypeGVK, `"Thing.v1.example.com"`},
		{TypeGVK, `["a","v1","K"]`},
		{TypeGVK, `{}`},
		{TypeGVK, `{"group":"a.b","version":"v1"}`},
		{TypeGVK, `{"Group":"a.b","version":"v1","kind":"K"}`},
		{TypeGVK, `{"group":"a.b","version":"","kind":"K"}`},
		{TypeGVK, `{"group":"a.b","version":1,"kind":"K"}`},
		{TypeGVK, `{"group":"a.b","version":null,"kind":"K"}`},
		{TypeGVK, `{"group":"a.b","version":{},"kind":"K"}`},
		{TypeGVK, `{"group":"a.b","version":"v1","kind":"K","group":"c"}`},
		{TypeGVK, `{"group":"a.b","version":"v1","kind":"K","x":1,"x":1}`},
		{TypeGVK, `{"group":"a.b","version":"v1","kind":"K"} {}`},
		{TypeGVK, `{"group":"a.b","version":"v1","kind":"K"`},
		{TypeGVK, `{"group":"a.b","version":"v1","kind":"K`},
		{TypeGVK, `{'group':"a.b"}`},
		{TypeGVK, `{"group":"a.b",}`},
		{TypeGVK, "{\"group\":\"\xff\"}"},
		{TypeGVKRequired, `{}`},
		{TypePackage, `{"packageName":"p","version":1.0}`},
		{TypePackage, `{"packageName":"p"}`},
		{TypePackage, `{"packageName":"p","version":"1.0.0","release":2}`},
		{TypePackage, `"text"`},
		{TypePackageRequired, `{"packageName":"p","version":"1.0.0"}`},
		{TypePackageRequired, `{"name":"p","versionRange":">=1.0.0"}`},
		{TypeLabel, `{"label":["x"]}`},
		{TypeLabelRequired, `{"Label":"x"}`},
		{TypeMaxOpenShiftVersion, ``},
		{TypeMaxOpenShiftVersion, `""`},
		{TypeMaxOpenShiftVersion, `null`},
		{TypeMaxOpenShiftVersion, `"four"`},
		{TypeMaxOpenShiftVersion, `"foo.bar"`},
		{TypeMaxOpenShiftVersion, `{"version":"4.8"}`},
		{TypeMaxOpenShiftVersion, `-4.8`},
		{TypeMaxOpenShiftVersion, `4.8 4.9`},
		{TypeMaxOpenShiftVersion, `"4.8`},
		{TypeKubeVersion, `"1.16"`},
		{TypeKubeVersion, `{"version":"latest"}`},
		{"olm.properties", ``},
		{"olm.properties", `{}`},
		{"olm.properties", `[1]`},
		{"olm.properties", `[{"type":"a","value":1},{"type":"a"}]`},
		{"olm.properties", `[{"value":1}]`},
		{"olm.properties", `[{"type":"","value":1}]`},
		{"olm.properties", `[{"type":1,"value":1}]`},
		{"olm.properties", `[{"type":"a","value":null}]`},
		{"olm.properties", `[{"type":"a","value":1,"value":2}]`},
		{"olm.properties", `[{"type":"a","value":1}`},
		{"olm.properties", `[{"type":"a","value":`},
		{"olm.properties", `[{"type":"a","value":1}] x`},
	} {
		v, err := parseAny(in.typ, []byte(in.raw))
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("parse %s %s = %v, %v; want an *Error", in.typ, in.raw, v, err)
			continue
		}
		fmt.Fprintf(&b, "%s %s\n\t%v\n", in.typ, in.raw, err)
	}
	golden.File(t, "errors.golden", b.String())
}

func TestValidateGVK(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, tt := range []struct {
		g    GVK
		want string // the parts at fault
	}{
		{GVK{"etcd.database.coreos.com", "v1beta2", "EtcdCluster"}, ""},
		{GVK{"a", "v", "k"}, ""},
		{GVK{"a-b.c0", "v-1", "K-1"}, ""},
		{GVK{long, long, long}, ""},
		{GVK{strings.Repeat("a.", 126) + "a", "v1", "K"}, ""},
		{GVK{strings.Repeat("a.", 126) + "aa", "v1", "K"}, "group"},
		{GVK{"a", long + "a", "K"}, "version"},
		{GVK{"a", "v1", long + "a"}, "kind"},
		{GVK{"", "", ""}, "group version kind"},
		{GVK{"Example_com", "v1", "Thing"}, "group"},
		{GVK{"example.com", "1", "Thing"}, "version"},
		{GVK{"example.com", "V1", "Thing"}, "version"},
		{GVK{"example.com", "v1-", "Thing-"}, "version kind"},
		{GVK{"example.com", "v1.2", "1Thing"}, "version kind"},
		{GVK{"example.com", "v1", "My_Thing"}, "kind"},
		{GVK{"-a", "v1", "K"}, "group"},
		{GVK{"a-", "v1", "K"}, "group"},
		{GVK{"a-.b", "v1", "K"}, "group"},
		{GVK{"a.-b", "v1", "K"}, "group"},
		{GVK{"a..b", "v1", "K"}, "group"},
		{GVK{".a", "v1", "K"}, "group"},
		{GVK{"a.", "v1", "K"}, "group"},
		{GVK{"ä", "vä", "Kä"}, "group version kind"},
	} {
		err := tt.g.Validate()
		var got []string
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				part, _, _ := strings.Cut(line, " ")
				got = append(got, part)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%v.Validate() = %v; want errors about %q", tt.g, err, tt.want)
		}
	}
}

func TestBuildersRoundTrip(t *testing.T) {
	text := "a\"\\\n\x00<>&ü\u2028"
	for _, tt := range []struct {
		p    Property
		want any
	}{
		{New(TypeGVK, GVK{text, "v1", "K"}), GVK{text, "v1", "K"}},
		{New(TypeGVKRequired, GVK{"g", "v1", text}), GVK{"g", "v1", text}},
		{New(TypePackage, Package{"p", text, ""}), Package{"p", text, ""}},
		{New(TypePackage, Package{"p", "1.0.0", "3"}), Package{"p", "1.0.0", "3"}},
		{New(TypePackageRequired, PackageRequired{"p", ">=1.0.0"}), PackageRequired{"p", ">=1.0.0"}},
		{New(TypeLabel, Label{text}), Label{text}},
		{New(TypeLabelRequired, Label{text}), Label{text}},
	} {
		got, err := parseAny(tt.p.Type, tt.p.Value)
		if err != nil || got != tt.want {
			t.Errorf("parse(%s %s) = %v, %v; want %v", tt.p.Type, tt.p.Value, got, err, tt.want)
		}
		if !json.Valid(tt.p.Value) {
			t.Errorf("%s is not JSON", tt.p.Value)
		}
	}
	if got := string(New(TypePackageRequired, PackageRequired{"p", ">=1 <2"}).Value); got != `{"packageName":"p","versionRange":">=1 <2"}` {
		t.Errorf("New: %s", got)
	}
	if got := string(New(TypeGVK, GVK{"\xff", "v1", "K"}).Value); !json.Valid([]byte(got)) {
		t.Errorf("New with invalid UTF-8: %q", got)
	}
}

// TestFastAndSlowAgree compares the two decoders on every variation of a text:
// whatever the fast one accepts, the slow one must accept with the same result.
func TestFastAndSlowAgree(t *testing.T) {
	base := []byte(`{"group":"a.b", "version":"v1","kind":"K"}`)
	for i := range base {
		for c := range 256 {
			for _, cut := range []int{0, 1} {
				raw := append(append(append([]byte{}, base[:i]...), byte(c)), base[i+cut:]...)
				checkFast(t, raw)
			}
		}
		checkFast(t, base[:i])
	}
}

func checkFast(t *testing.T, raw []byte) {
	t.Helper()
	fast, ok := shapeGVK.scan(raw)
	if !ok {
		return
	}
	slow, err := shapeGVK.decodeSlow(raw)
	if err != nil {
		t.Fatalf("scan(%q) accepts, decodeSlow: %v", raw, err)
	}
	if d := cmp.Diff(fast, slow); d != "" {
		t.Fatalf("scan(%q) and decodeSlow differ:\n%s", raw, d)
	}
}

func FuzzGVK(f *testing.F) {
	for _, s := range []string{
		`{"group":"a.b","version":"v1","kind":"K"}`,
		`{"kind":"\u004b","x":[{}],"group":"a","version":"v1"}`,
		`{"group":1}`, `[[[[`, `{"a":{"a":{"a":`, `null`, ``, `"K.v1.g"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		checkFast(t, raw)
		g, err := Parse[GVK](Property{TypeGVK, raw})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("Parse[GVK](%q): %T, want *Error", raw, err)
			}
			return
		}
		_ = g.Validate()
		back, err := Parse[GVK](New(TypeGVK, g))
		if err != nil || back != g {
			t.Fatalf("Parse[GVK](New(TypeGVK, %q)) = %q, %v", g, back, err)
		}
	})
}

func TestList(t *testing.T) {
	got, err := ParseList([]byte(`[{"type":"a","value":{"x":[1, 2]}},{"value":"4.8","more":[],"type":"b"}]`))
	want := []Property{{"a", json.RawMessage(`{"x":[1, 2]}`)}, {"b", json.RawMessage(`"4.8"`)}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("ParseList: %v, diff %s", err, d)
	}
	if got, err := ParseList([]byte(" [] ")); err != nil || len(got) != 0 {
		t.Errorf("ParseList([]) = %v, %v", got, err)
	}
}

func TestCompare(t *testing.T) {
	sorted := []GVK{{}, {"a", "v2", "A"}, {"a", "v1", "B"}, {"a", "v2", "B"}, {"b", "v1", "A"}}
	for i, a := range sorted {
		for j, b := range sorted {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := a.Compare(b); got != want {
				t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestHostileNesting(t *testing.T) {
	for _, raw := range []string{
		strings.Repeat("[", 1<<20),
		`{"x":` + strings.Repeat(`{"a":`, 1<<18),
		`{"group":` + strings.Repeat("[", 1<<20),
	} {
		if _, err := Parse[GVK](Property{TypeGVK, []byte(raw)}); err == nil {
			t.Errorf("Parse[GVK](%.20q…) succeeded", raw)
		}
		if _, err := ParseList([]byte(raw)); err == nil {
			t.Errorf("ParseList(%.20q…) succeeded", raw)
		}
	}
}

func BenchmarkParseGVK(b *testing.B) {
	for _, bb := range []struct{ name, raw string }{
		{"plain", `{"group":"etcd.database.coreos.com","kind":"EtcdCluster","version":"v1beta2"}`},
		{"unusual", `{"group":"etcd.database.coreos.com","kind":"EtcdCluster","version":"v1beta2","description":"d"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			raw := []byte(bb.raw)
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if _, err := Parse[GVK](Property{TypeGVK, raw}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParsePackage(b *testing.B) {
	raw := []byte(`{"packageName":"etcd","version":"0.9.4"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse[Package](Property{TypePackage, raw}); err != nil {
			b.Fatal(err)
		}
	}
}
