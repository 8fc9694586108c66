package crd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/olm"
)

func fromYAML[T any](t testing.TB, text string) *T {
	t.Helper()
	v := new(T)
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in\n%.1000s", err, text)
	}
	return v
}

func crdOf(t testing.TB, versions string) *olm.CustomResourceDefinition {
	t.Helper()
	return fromYAML[olm.CustomResourceDefinition](t, crdText(versions))
}

func crdText(versions string) string {
	return `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.io}
spec: {group: x.io, scope: Namespaced, names: {kind: Thing, listKind: ThingList, plural: things, singular: thing}, versions: ` + versions + `}`
}

// versionOf returns the list of versions of a CRD with one version, which has the schema.
func versionOf(schema string) string {
	return `[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ` + schema + `}}]`
}

func specOf(properties string) string {
	return `{type: object, properties: {spec: {type: object, properties: {` + properties + `}}}}`
}

func thing(t testing.TB, name, spec string) olm.Object {
	t.Helper()
	return *fromYAML[olm.Object](t, "{apiVersion: x.io/v1, kind: Thing, metadata: {namespace: ns, name: "+name+"}, spec: "+spec+"}")
}

func check(t testing.TB, c *olm.CustomResourceDefinition, resources ...olm.Object) string {
	t.Helper()
	list, err := crd.Check(t.Context(), c, resources)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, v := range list {
		mark := ""
		if v.Unchecked {
			mark = "? "
		}
		out = append(out, mark+v.String())
	}
	return strings.Join(out, "\n")
}

// A checkCase is a schema and the specs of objects t0, t1, …
type checkCase struct {
	name, schema string
	specs        []string
}

func rule(r string) string { return `x-kubernetes-validations: [{rule: '` + r + `', message: broken}]` }

func spec(s string) string { return `{type: object, properties: {spec: {` + s + `}}}` }

// checkCases are schemas and invalid objects. TestServer compares the results with those of
// an API server.
var checkCases = []checkCase{
	{"nothing", `{type: object, x-kubernetes-preserve-unknown-fields: true}`, []string{`{a: [1]}`}},
	{"type", specOf(`size: {type: integer}`), []string{`{size: 1}`, `{size: big}`}},
	{"every violation of every object", specOf(`size: {type: integer, maximum: 3}, name: {type: string, enum: [a, b]}`), []string{`{size: 4, name: c}`, `{size: 5}`}},
	{"unknown fields are pruned, not refused", specOf(`size: {type: integer}`), []string{`{color: red}`}},
	{"required with a default", spec(`type: object, required: [mode], properties: {mode: {type: string, default: fast}}`), []string{`{}`}},
	{"required without a default", spec(`type: object, required: [mode], properties: {mode: {type: string}}`), []string{`{}`}},
	{"nullable, and null pruned where it is not", specOf(`a: {type: string, nullable: true, enum: [x]}, b: {type: string}`), []string{`{a: null, b: null}`}},
	{"required and null", spec(`type: object, required: [b], properties: {b: {type: string}}`), []string{`{b: null}`}},
	{"null takes the default", spec(`type: object, required: [b], properties: {b: {type: string, default: x}}`), []string{`{b: null}`}},
	{"int or string", specOf(`port: {x-kubernetes-int-or-string: true}`), []string{`{port: 80}`, `{port: http}`, `{port: 1.5}`}},
	{"exclusive bound as OpenAPI has it", specOf(`num: {type: integer, minimum: 1, exclusiveMinimum: true}`), []string{`{num: 1}`}},
	{"list that is a map", specOf(`ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, v: {type: integer}}}}`), []string{`{ports: [{name: a, v: 1}, {name: a, v: 2}]}`}},
	{"list that is a set", specOf(`names: {type: array, x-kubernetes-list-type: set, items: {type: string}}`), []string{`{names: [a, b, a]}`}},
	{"preserve unknown fields", specOf(`any: {type: object, x-kubernetes-preserve-unknown-fields: true}`), []string{`{any: {deep: [1]}}`}},
	{"pattern, length", specOf(`s: {type: string, pattern: "^a*$", maxLength: 3}`), []string{`{s: aaab}`, `{s: aaa}`}},
	{"formats", specOf(`t: {type: string, format: date-time}, ip: {type: string, format: ipv4}, x: {type: string, format: unknown}`), []string{`{t: soon, ip: 1.2.3, x: "y"}`}},
	{"combinations", specOf(`v: {type: string, anyOf: [{enum: [a]}, {pattern: "^b"}], not: {enum: [bad]}}`), []string{`{v: c}`, `{v: bad}`, `{v: a}`}},
	{"embedded resource", specOf(`e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`), []string{`{e: {apiVersion: v1, kind: T, metadata: {name: mine}}}`, `{e: {kind: T}}`}},
	{"numbers", specOf(`num: {type: number, minimum: 0, maximum: 1}`), []string{`{num: 3}`, `{num: 18446744073709551616}`, `{num: 0.5}`, `{num: 1e-400}`}},
	{"map keys in paths", specOf(`m: {type: object, additionalProperties: {type: integer}}`), []string{`{m: {a.b/c: x}}`}},

	{"rule", spec(`type: object, properties: {min: {type: integer}, max: {type: integer}}, ` + rule("self.min <= self.max")), []string{`{min: 3, max: 2}`, `{min: 2, max: 2}`}},
	{"rule on a default", spec(`type: object, properties: {a: {type: integer, default: 3}}, ` + rule("self.a < 3")), []string{`{}`}},
	{"transition rule", specOf(`a: {type: integer, ` + rule("self == oldSelf") + `}`), []string{`{a: 1}`}},
	{"transition rule with an optional old value", spec(`type: object, x-kubernetes-validations: [{rule: "oldSelf.hasValue()", optionalOldSelf: true, message: broken}]`), []string{`{}`}},
	{"rules on an object of another type", specOf(`a: {type: integer, ` + rule("self < 3") + `}`), []string{`{a: x}`}},
	{"rules on an object out of bounds", specOf(`a: {type: integer, maximum: 2, ` + rule("self < 3") + `}`), []string{`{a: 5}`}},
	{"nested levels", spec(`type: object, ` + rule("1 == 2") + `, properties: {a: {type: string, ` + rule(`self == "x"`) + `}}`), []string{`{a: z}`}},
	{"list elements", specOf(`l: {type: array, maxItems: 9, ` + rule("self.size() < 3") + `, items: {type: integer, ` + rule("self > 1") + `}}`), []string{`{l: [1, 2, 0]}`}},
	{"map values", spec(`type: object, maxProperties: 9, additionalProperties: {type: integer, ` + rule("self > 1") + `}, ` + rule(`self.all(k, k.startsWith("a"))`)), []string{`{b~/: 1, a: 0}`}},
	{"has", spec(`type: object, properties: {a: {type: string}, b: {type: string}}, ` + rule("has(self.a) != has(self.b)")), []string{`{a: x, b: z}`}},
	{"escaped names", spec(`type: object, properties: {a-b: {type: integer}, namespace: {type: string}, x.y/z__: {type: integer}}, ` + rule(`self.a__dash__b == 1 && self.__namespace__ == "ns" && self.x__dot__y__slash__z__underscores__ == 2`)), []string{`{a-b: 1, namespace: ns, x.y/z__: 2}`}},
	{"a missing key breaks the rule", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`self.a == 1`)), []string{`{}`}},
	{"other errors break the rule", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`1 / self.a == 1`)), []string{`{a: 0}`}},
	{"functions of the API server", specOf(`a: {type: string, maxLength: 20, ` + rule(`isURL(self) && quantity("2").isGreaterThan(quantity("1"))`) + `}`), []string{`{a: "https://x.io"}`, `{a: "1"}`}},
	{"without a message", spec(`type: object, x-kubernetes-validations: [{rule: "1 == 2"}]`), []string{`{}`}},
	{"message by expression", spec(`type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "1 == 2", message: m, messageExpression: "self.a > 3 ? 'a is large' : 'a is small'"}]`), []string{`{a: 7}`, `{}`}},
	{"path and reason", spec(`type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "1 == 2", message: m, fieldPath: .a, reason: FieldValueForbidden}]`), []string{`{a: 7}`}},
	{"numbers as the schema has them", spec(`type: object, properties: {num: {type: number}, i: {type: integer}, p: {x-kubernetes-int-or-string: true}}, ` + rule(`type(self.num) == double && type(self.i) == int && type(self.p) == int`)), []string{`{num: 1, i: 1, p: 80}`}},
	{"formats in rules", spec(`type: object, properties: {t: {type: string, format: date-time}, d: {type: string, format: duration}, b: {type: string, format: byte}, day: {type: string, format: date}}, ` + rule(`self.t > timestamp("2020-01-01T00:00:00Z") && self.d < duration("2h") && size(self.b) == 2 && self.day.getFullYear() == 2024`)), []string{`{t: "2024-01-01T00:00:00Z", d: 1h, b: aGk=, day: "2024-05-06"}`}},
	{"texts and sets", spec(`type: object, properties: {s: {type: string, maxLength: 9}, l: {type: array, maxItems: 3, items: {type: string, maxLength: 3}}}, ` + rule(`self.s.lowerAscii() == "a,b" && sets.equivalent(self.s.split(","), ["B", "A"]) && self.l.join("-") == "p-q"`)), []string{`{s: "A,B", l: [p, q]}`}},
	{"optional fields", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`self.?a.orValue(3) == 3`)), []string{`{}`}},
	{"root has name and kind", `{type: object, ` + rule(`self.kind == "Thing" && self.apiVersion.endsWith("x.io/v1") && self.metadata.name == "t0"`) + `}`, []string{`{}`, `{}`}},
}

func (c checkCase) resources(t testing.TB) []olm.Object {
	var list []olm.Object
	for i, s := range c.specs {
		list = append(list, thing(t, "t"+string(rune('0'+i)), s))
	}
	return list
}

// E7: every violation of every object is reported with the API server's message.
func TestCheck(t *testing.T) {
	a := &golden.Archive{File: "check.txtar"}
	for _, c := range checkCases {
		a.Add(c.name, check(t, crdOf(t, versionOf(c.schema)), c.resources(t)...))
	}
	a.Check(t)
}

// E7: objects are checked in their own version and in the storage version, unless a webhook
// converts between them.
func TestVersions(t *testing.T) {
	const needsA = `, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [a], properties: {a: {type: string}}}}}}}`
	const v1, v2 = `{name: v1, served: true, storage: false}`, `{name: v2, served: true, storage: true` + needsA
	for _, c := range []struct{ name, versions, conversion, want string }{
		{"without schemas", `[{name: v1, served: true, storage: true}]`, "None", ""},
		{"as the storage version, too", "[" + v1 + ", " + v2 + "]", "None", "Thing ns/t (v2): spec.a: Required value"},
		{"as the storage version if its own was removed", "[" + v2 + "]", "", "Thing ns/t (v2): spec.a: Required value"},
		{"in both versions", `[{name: v1, served: true, storage: false` + needsA + ", " + v2 + "]", "None", "Thing ns/t (v1): spec.a: Required value\nThing ns/t (v2): spec.a: Required value"},
		{"converted by a webhook", "[" + v1 + ", " + v2 + "]", "Webhook", ""},
		{"converted by a webhook, its own version removed", "[" + v2 + "]", "Webhook", "? Thing ns/t (v1): the result of converting it to version v2 with strategy Webhook is unknown"},
	} {
		d := crdOf(t, c.versions)
		d.Spec.Conversion = &olm.CRDConversion{Strategy: c.conversion}
		if got := check(t, d, thing(t, "t", "{}")); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// E7: in a v1beta1 CRD, the schema is outside the versions.
func TestV1beta1(t *testing.T) {
	d := fromYAML[olm.CustomResourceDefinition](t, `{metadata: {name: things.x.io}, spec: {group: x.io, version: v1, validation: {openAPIV3Schema: `+specOf(`a: {type: string}`)+`}}}`)
	if got, want := check(t, d, thing(t, "t", "{a: 1}")), `Thing ns/t (v1): spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// invalidSchemas are schemas that the API server rejects. A newer server may have more
// functions.
var invalidSchemas = []struct{ name, schema, want string }{
	{"pattern", specOf(`a: {type: string, pattern: "("}`), `version v1: invalid schema: pattern "(": `},
	{"not structural", `{properties: {spec: {}}}`, "version v1: invalid schema: properties[spec].type: Required value"},
	{"rules within allOf", spec(`type: object, properties: {a: {type: integer}}, allOf: [{properties: {a: {` + rule("self > 1") + `}}}]`), "version v1: invalid schema: properties[spec].allOf[0].properties[a].x-kubernetes-validations: Forbidden: "},
	{"not a schema", `{type: 1}`, "version v1: invalid schema: json: "},
	{"number out of range", specOf(`a: {type: number, maximum: 1e400}`), "version v1: invalid schema: "},
	{"too large", `{type: object, description: "` + strings.Repeat("x", 3<<20) + `"}`, "version v1: invalid schema: it has 3145"},
	{"unknown function", specOf(`a: {type: string, ` + rule("notYetThere(self)") + `}`), `? version v1: schema of spec.a: rule "notYetThere(self)": compilation failed: `},
	{"not a boolean", specOf(`a: {type: string, ` + rule("self") + `}`), `? version v1: schema of spec.a: rule "self": cel expression must evaluate to a bool`},
	{"types have the same name in every run", specOf(`a: {type: object, properties: {b: {type: string}}, ` + rule("self == 1") + `}`), `? version v1: schema of spec.a: rule "self == 1": compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(self, int)'`},
}

// E7: errors in a schema are reported once, not for each object.
func TestInvalidSchemas(t *testing.T) {
	for _, c := range invalidSchemas {
		got := check(t, crdOf(t, versionOf(c.schema)), thing(t, "t0", `{a: x}`), thing(t, "t1", `{a: x}`))
		if !strings.HasPrefix(got, c.want) || strings.Count(got, "version v1") != 1 {
			t.Errorf("%s: got %.300q, want %q", c.name, got, c.want)
		}
	}
}

// If one rule does not compile, the others are still evaluated (E7).
func TestOtherRules(t *testing.T) {
	schema := specOf(`a: {type: string, x-kubernetes-validations: [{rule: "nope(self)"}, {rule: "self != 'x'", message: broken}]}`)
	if got := check(t, crdOf(t, versionOf(schema)), thing(t, "t", "{a: x}")); !strings.Contains(got, "? version v1: schema of spec.a: rule \"nope(self)\"") || !strings.Contains(got, `spec.a: Invalid value: "x": broken`) {
		t.Errorf("got %s", got)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"spec":{"type":"object","nullable":true}}}`), []byte(`{"spec":null}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"x-kubernetes-int-or-string":true,"default":1}}}`), []byte(`{}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}}}},"allOf":[{}],"not":{}}`), []byte(`{"a":[[1,1]]}`))
	f.Add([]byte(`{"type":"object","properties":{"a":{"type":"string","format":"duration","x-kubernetes-validations":[{"rule":"self > duration('1h')","messageExpression":"string(self)"}]}}}`), []byte(`{"a":"3h"}`))
	f.Fuzz(func(t *testing.T, schema, object []byte) {
		var o olm.Object
		if !json.Valid(schema) || json.Unmarshal(object, &o) != nil {
			return
		}
		o.APIVersion, o.Kind = "x.io/v1", "Thing"
		d := &olm.CustomResourceDefinition{}
		d.Spec.Versions = []olm.CRDVersion{{Name: "v1", Served: true, Storage: true, Schema: &olm.CRDSchema{OpenAPIV3Schema: schema}}}
		if first, again := check(t, d, o), check(t, d, o); first != again {
			t.Errorf("a second call returned another result:\n%s", cmp.Diff(first, again))
		}
	})
}
