package crd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testctx"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/olm"
)

func repeat(s string, n int) string { return strings.Repeat(s+", ", n-1) + s }

func names(format string, n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(format, i))
	}
	return strings.Join(list, ", ")
}

// schemaOf returns a CRD whose specs have a schema, in JSON.
func schemaOf(spec string) *olm.CustomResourceDefinition {
	d := &olm.CustomResourceDefinition{}
	d.Spec.Group, d.Spec.Names.Kind = "x.io", "Thing"
	d.Spec.Versions = []olm.CRDVersion{{Name: "v1", Served: true, Storage: true, Schema: &olm.CRDSchema{OpenAPIV3Schema: []byte(`{"type": "object", "properties": {"spec": ` + spec + `}}`)}}}
	return d
}

func object(t testing.TB, name, spec string) olm.Object {
	t.Helper()
	o := olm.Object{}
	o.APIVersion, o.Kind, o.Metadata.Name = "x.io/v1", "Thing", name
	o, err := o.Set("spec", json.RawMessage(spec))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func nested(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func celRule(rule string) string {
	return fmt.Sprintf(`"x-kubernetes-validations": [{"rule": %q, "message": "broken"}]`, rule)
}

// hostile lists schemas and objects that are expensive to validate. Objects and
// rules that exceed a limit are reported as not checked.
var hostile = []struct {
	name, schema, spec string
	want               string // a part of a result; "" if everything is checked
}{
	{"10,000 properties", `{"type": "object", "properties": {` + names(`"p%d": {"type": "string", "maxLength": 3}`, 10_000) + `}}`, `{` + names(`"p%d": "abcd"`, 10_000) + `}`, "Thing t (v1): it has more than 1000 violations"},
	{"10,000 properties of many objects", `{"type": "array", "items": {"type": "object", "properties": {` + names(`"p%d": {"type": "string"}`, 10_000) + `}}}`, `[` + repeat("{}", 10_000) + `]`, "validating it costs too much"},
	{"10,000 rules", `{"type": "object", "properties": {` + names(`"p%d": {"type": "integer", `+celRule("self > 1")+`}`, 10_000) + `}}`, `{"p1": 1}`, "compiling it costs too much"},
	{"deep anyOf", `{"type": "string", ` + nested(`"anyOf": [{`, `"enum": ["a"]`, `}]`, 2000) + `}`, `"b"`, "must validate at least one schema"},
	{"wide anyOf", `{"type": "array", "items": {"type": "object", "anyOf": [` + repeat(`{"required": ["a"]}`, 2000) + `]}}`, `[` + repeat("{}", 1000) + `]`, "validating it costs too much"},
	{"deep properties", nested(`{"type": "object", "properties": {"a": `, `{"type": "string"}`, `}}`, 2000), nested(`{"a": `, `1`, `}`, 2000), "Invalid value"},
	{"deep object", `{"type": "object", "x-kubernetes-preserve-unknown-fields": true}`, nested(`{"a": `, `1`, `}`, 3000), ""},
	{"defaults", `{"type": "array", "items": {"type": "object", "properties": {` + names(`"p%d": {"type": "string", "default": "`+strings.Repeat("x", 100)+`"}`, 1000) + `}}}`, `[` + repeat("{}", 10_000) + `]`, "validating it costs too much"},
	{"enumeration", `{"type": "array", "items": {"type": "string", "enum": [` + names(`"n%d"`, 20_000) + `]}}`, `[` + repeat(`"x"`, 20_000) + `]`, "validating it costs too much"},
	{"pattern", `{"type": "string", "pattern": "^([a-z]{1,100}-?){1,10}$"}`, `"` + strings.Repeat("a", 1<<20) + `"`, "validating it costs too much"},
	{"pattern that is slow to parse", `{"type": "string", "pattern": "(?i)` + strings.Repeat(`[B-\\x{1e942}]`, 1000) + `"}`, `"a"`, "cost too much"},
	{"pattern that is large", `{"type": "string", "pattern": "` + strings.Repeat(`((\\pL{10}){10}){10}`, 100) + `"}`, `"a"`, "cost too much"},
	{"unique items", `{"type": "array", "uniqueItems": false, "x-kubernetes-list-type": "set", "items": {"type": "string"}}`, `[` + names(`"n%d"`, 20_000) + `]`, ""},
	{"long rule", `{"type": "integer", ` + celRule(strings.Repeat("self == -1 || ", 4000)+"true") + `}`, `1`, "compiling it costs too much"},
	{"rule whose macros double", `{"type": "string", ` + celRule("optional.of(self)"+strings.Repeat(".optMap(x, x)", 60)+".hasValue()") + `}`, `"a"`, "compiling it costs too much"},
	{"rule with nested loops", `{"type": "array", "items": {"type": "integer"}, ` + celRule("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))") + `}`, `[` + repeat("1", 1000) + `]`, "its estimated cost is"},
	{"rule that doubles a text", `{"type": "string", ` + celRule("[self]"+strings.Repeat(".map(x, x + x)", 60)+".size() > 0") + `}`, `"aaaaaaaaaaaaaaaa"`, "may build values that are too large"},
	{"rule that compares what it doubles", `{"type": "string", ` + celRule("[self]"+strings.Repeat(".map(x, [x, x])", 40)+" == [self]"+strings.Repeat(".map(x, [x, x])", 40)) + `}`, `"a"`, "may build values that are too large"},
	{"rule with a pattern", `{"type": "string", ` + celRule("self.matches('(((a{100}){100}){100})')") + `}`, `"` + strings.Repeat("a", 50_000) + `"`, "invalid matches argument"},
	{"rule with a pattern from the object", `{"type": "string", ` + celRule("self.matches(self)") + `}`, `"` + strings.Repeat("((a{10}){10}){10}", 1000) + `"`, "its estimated cost is"},
	{"rule that replaces", `{"type": "string", ` + celRule("self.replace('', self).replace('', self).replace('', self).size() > 0") + `}`, `"` + strings.Repeat("a", 5_000) + `"`, "its estimated cost is"},
	{"rule that splits", `{"type": "string", ` + celRule("self.split('').map(x, self.split('').map(y, self.split(''))).size() > 0") + `}`, `"` + strings.Repeat("a", 50_000) + `"`, "its estimated cost is"},
	{"rule on each element", `{"type": "array", "items": {"type": "array", "maxItems": 40, "items": {"type": "integer"}, ` + celRule("self.all(a, self.all(b, a + b >= 0))") + `}}`, `[` + repeat(`[`+repeat("1", 40)+`]`, 3_000) + `]`, "running out of cost budget"},
	{"references", `{"$ref": "#"}`, `1`, "invalid schema"},
}

// Hostile schemas and objects are checked in bounded time, and the results list
// what was not checked (E7, D18, S2).
func TestHostile(t *testing.T) {
	for _, x := range hostile {
		t.Run(x.name, func(t *testing.T) {
			got := check(t, schemaOf(x.schema), object(t, "t", x.spec))
			if (x.want == "") != (got == "") || !strings.Contains(got, x.want) {
				t.Errorf("got %.700s, want %q", got, x.want)
			}
		})
	}
}

// A check stops when its context ends (D18).
func TestContext(t *testing.T) {
	d := schemaOf(`{"type": "array", "items": {"type": "string", "maxLength": 9, ` + celRule("self.matches('^a+$')") + `}}`)
	object := object(t, "t", "["+repeat(`"a"`, 5_000)+"]")
	cause := errors.New("enough")
	for _, n := range []int{1, 2, 3, 10, 20, 50, 100, 1000} {
		if got, err := crd.Check(testctx.EndsAfter(n, cause), d, []olm.Object{object, object}); !errors.Is(err, cause) || got != nil {
			t.Errorf("after %d checks of the context: %.100v, %v", n, got, err)
		}
	}
}
