package celrule_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/olmkit/olmkit/reconcile/internal/celrule"
	"sigs.k8s.io/yaml"
)

// decode reads YAML as package reconcile reads objects.
func decode(t testing.TB, text string) any {
	t.Helper()
	j, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	d := json.NewDecoder(bytes.NewReader(j))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func check(t testing.TB, schema, object string, b *celrule.Budget) string {
	t.Helper()
	m, ok := decode(t, schema).(map[string]any)
	if !ok {
		t.Fatalf("no schema: %s", schema)
	}
	rules := celrule.Compile(t.Context(), m)
	if rules == nil {
		return "no rules"
	}
	var out strings.Builder
	for _, f := range append(rules.Faults, rules.Check(t.Context(), decode(t, object), b)...) {
		kind := ""
		if f.Unchecked {
			kind = "? "
		}
		fmt.Fprintf(&out, "%s%s: %s\n", kind, f.Path, f.Message)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// E7: what the API server's rules say of objects at rest.
func TestRules(t *testing.T) {
	spec := func(s string) string { return `{type: object, properties: {spec: {` + s + `}}}` }
	rule := func(r string) string { return `x-kubernetes-validations: [{rule: '` + r + `', message: broken}]` }
	for _, c := range []struct{ name, schema, object, want string }{
		{"no rules", spec(`type: object`), `{}`, "no rules"},
		{"object", spec(`type: object, properties: {min: {type: integer}, max: {type: integer}}, ` + rule("self.min <= self.max")), `{spec: {min: 3, max: 2}}`, "/spec: broken"},
		{"object that holds it", spec(`type: object, properties: {min: {type: integer}, max: {type: integer}}, ` + rule("self.min <= self.max")), `{spec: {min: 2, max: 2}}`, ""},
		{"nested levels, the inner first", `{type: object, ` + rule("false") + `, properties: {spec: {type: object, ` + rule("false") + `, properties: {a: {type: string, ` + rule(`self == "x"`) + `}}}}}`, `{spec: {a: y}}`,
			"/spec/a: broken\n/spec: broken\n: broken"},
		{"list elements", spec(`type: object, properties: {l: {type: array, ` + rule("self.size() < 3") + `, items: {type: integer, ` + rule("self > 1") + `}}}`), `{spec: {l: [1, 2, 0]}}`,
			"/spec/l/0: broken\n/spec/l/2: broken\n/spec/l: broken"},
		{"map values, by key", spec(`type: object, additionalProperties: {type: integer, ` + rule("self > 1") + `}, ` + rule(`self.all(k, k.startsWith("a"))`)), `{spec: {b~/: 1, a: 0}}`,
			"/spec/a: broken\n/spec/b~0~1: broken\n/spec: broken"},
		{"null has no rules", spec(`type: object, nullable: true, ` + rule("false")), `{spec: null}`, ""},
		{"absent has no rules", spec(`type: object, ` + rule("false")), `{}`, ""},
		{"has", spec(`type: object, properties: {a: {type: string}, b: {type: string}}, ` + rule("has(self.a) != has(self.b)")), `{spec: {a: x, b: y}}`, "/spec: broken"},
		{"transition rules do not apply", spec(`type: object, properties: {a: {type: string, ` + rule("self == oldSelf") + `}}, x-kubernetes-validations: [{rule: "!oldSelf.hasValue() || false", optionalOldSelf: true}]`), `{spec: {a: x}}`, ""},
		{"escaped names", spec(`type: object, properties: {a-b: {type: integer}, namespace: {type: string}, x.y/z__: {type: integer}}, ` + rule(`self.a__dash__b == 1 && self.__namespace__ == "ns" && self.x__dot__y__slash__z__underscores__ == 2`)),
			`{spec: {a-b: 1, namespace: ns, x.y/z__: 2}}`, ""},
		{"fields unknown to the schema are not seen", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`!has(self.b)`)), `{spec: {b: 1}}`, ""},
		{"a missing key breaks the rule", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`self.a == 1`)), `{spec: {}}`, `/spec: rule "self.a == 1": no such key: a`},
		{"other errors are not certain", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`1 / self.a == 1`)), `{spec: {a: 0}}`, `? /spec: rule "1 / self.a == 1": division by zero`},
		{"unknown function", spec(`type: object, properties: {a: {type: string, ` + rule(`quantity(self).isGreaterThan(quantity("1"))`) + `}}`), `{spec: {a: "1"}}`,
			`? /spec/a: rule "quantity(self).isGreaterThan(quantity(\"1\"))": it does not compile here: 1:9: undeclared reference to 'quantity'`},
		{"no rule at all", spec(`type: object, x-kubernetes-validations: [{message: m}]`), `{spec: {}}`, `? /spec: a rule without text`},
		{"not a boolean", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`self.a`)), `{spec: {a: 1}}`, `? /spec: rule "self.a" is of type int: want bool`},
		{"without a message", spec(`type: object, x-kubernetes-validations: [{rule: "1 == 2"}]`), `{spec: {}}`, `/spec: breaks rule "1 == 2"`},
		{"message by expression", spec(`type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "false", message: m, messageExpression: "'a is ' + string(self.a)"}]`), `{spec: {a: 7}}`, `/spec: a is 7`},
		{"message by an expression that fails", spec(`type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "false", message: m, messageExpression: "string(self.a)"}]`), `{spec: {}}`, `/spec: m`},
		{"root has name and kind, and no more metadata", `{type: object, ` + rule(`self.kind == "T" && self.apiVersion == "x/v1" && self.metadata.name == "mine" && !has(self.metadata.labels)`) + `}`, `{apiVersion: x/v1, kind: T, metadata: {name: mine, labels: {a: b}}}`, ""},
		{"embedded resource", spec(`type: object, x-kubernetes-embedded-resource: true, ` + rule(`self.metadata.name == "mine"`)), `{spec: {apiVersion: v1, kind: T, metadata: {name: mine}}}`, ""},
		{"numbers as the schema has them", spec(`type: object, properties: {num: {type: number}, i: {type: integer}, p: {x-kubernetes-int-or-string: true}}, ` + rule(`type(self.num) == double && type(self.i) == int && type(self.p) == int && self.num == self.i`)), `{spec: {num: 1, i: 1, p: 80}}`, ""},
		{"formats", spec(`type: object, properties: {t: {type: string, format: date-time}, d: {type: string, format: duration}, b: {type: string, format: byte}, day: {type: string, format: date}}, ` + rule(`self.t > timestamp("2020-01-01T00:00:00Z") && self.d < duration("2h") && size(self.b) == 2 && self.day.getFullYear() == 2024`)),
			`{spec: {t: "2024-01-01T00:00:00Z", d: 1h, b: aGk=, day: "2024-05-06"}}`, ""},
		{"a text that is not of its format", spec(`type: object, properties: {d: {type: string, format: duration}}, ` + rule(`self.d < duration("2h")`)), `{spec: {d: soon}}`, `? /spec: rule "self.d < duration(\"2h\")": "soon" is no duration`},
		{"library of texts and of sets", spec(`type: object, properties: {s: {type: string}, l: {type: array, items: {type: string}}}, ` + rule(`self.s.lowerAscii() == "a,b" && sets.equivalent(self.s.split(","), ["B", "A"]) && self.l.join("-") == "p-q"`)), `{spec: {s: "A,B", l: [p, q]}}`, ""},
		{"optional fields", spec(`type: object, properties: {a: {type: integer}}, ` + rule(`self.?a.orValue(3) == 3`)), `{spec: {}}`, ""},
		{"rules that are not read", spec(`type: object, anyOf: [{properties: {a: {` + rule("true") + `}}}]`), `{spec: {}}`, "? /spec: rules within anyOf are not read"},
		{"the schema expects another form", spec(`type: object, properties: {a: {type: object, ` + rule("self.b") + `}}`), `{spec: {a: [1]}}`, `? /spec/a: rule "self.b": unsupported index type 'string' in list`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, check(t, c.schema, c.object, celrule.NewBudget())); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// D18: what costs too much ends, and is told once.
func TestBudget(t *testing.T) {
	schema := `{type: object, properties: {l: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, a + b > self))"}]}}}}`
	object := `{l: [0, 0, 0, 0]}`
	if got := check(t, schema, object, celrule.NewBudget()); got != "" {
		t.Errorf("within the budget: %s", got)
	}
	got := check(t, schema, object, &celrule.Budget{Each: 50, Left: 1e6})
	if n := strings.Count(got, "its evaluation costs more than 50"); n != 4 {
		t.Errorf("the budget of each one: %s", got)
	}
	got = check(t, schema, object, &celrule.Budget{Each: 1e6, Left: 2500})
	if strings.Count(got, "? ") != 1 || !strings.Contains(got, "costs too much") {
		t.Errorf("the budget of all: %s", got)
	}
	for _, rule := range []string{
		`"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".replace("", self).replace("", self).replace("", self).replace("", self).size() > 0`,
		`self.matches("(((a{100}){100}){100})")`,
		`self.split("").map(x, self.split("").map(y, self.split("").map(z, z))).size() > 0`,
	} {
		schema := `{type: object, properties: {s: {type: string, x-kubernetes-validations: [{rule: '` + rule + `'}]}}}`
		got := check(t, schema, `{s: "`+strings.Repeat("a", 50000)+`"}`, celrule.NewBudget())
		if !strings.HasPrefix(got, "? ") {
			t.Errorf("%s: %.200s", rule, got)
		}
	}
}

// Rules that would take too much to read are refused before they are (S2), and those
// that name a time zone of the machine, whatever it has (S3).
func TestHostileRules(t *testing.T) {
	for rule, want := range map[string]string{
		"self.s" + strings.Repeat(".optMap(x, x)", 60) + " == 1":               "its macros optMap and optFlatMap expand to too much",
		"[" + strings.Repeat("[],", 1000) + "1].size() > 0":                    "at most 2000 are allowed",
		strings.Repeat("self.s == -1 || ", 4000) + "true":                      "it counts as 144001 tokens: at most 8000 are allowed",
		`self.s.matches("(?i)` + strings.Repeat(`[B-\\x{1e942}]`, 1000) + `")`: "its regular expressions cost too much to parse",
		`timestamp("2020-01-01T00:00:00Z").getHours("Europe/Berlin") > 0`:      `time zone "Europe/Berlin" is not supported`,
	} {
		schema := `{type: object, x-kubernetes-validations: [{rule: '` + rule + `'}], properties: {s: {type: string}}}`
		if got := check(t, schema, `{s: a}`, celrule.NewBudget()); !strings.HasPrefix(got, "? ") || !strings.Contains(got, want) {
			t.Errorf("%.60s…: %s", rule, got)
		}
	}
}

// The context ends an evaluation.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m, ok := decode(t, `{type: object, x-kubernetes-validations: [{rule: "false"}]}`).(map[string]any)
	if !ok {
		t.Fatal("no schema")
	}
	rules := celrule.Compile(ctx, m)
	cancel()
	if got := rules.Check(ctx, decode(t, `{}`), celrule.NewBudget()); got != nil {
		t.Errorf("checked after the end: %v", got)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"type":"object","x-kubernetes-validations":[{"rule":"self.a.all(x, x in [1, 2.0, 'b'])"}]}`), []byte(`{"a":[1,2]}`))
	f.Add([]byte(`{"properties":{"a":{"type":"string","format":"duration","x-kubernetes-validations":[{"rule":"self > duration('1h')","messageExpression":"string(self)"}]}}}`), []byte(`{"a":"3h"}`))
	f.Add([]byte(`{"additionalProperties":{"items":{"x-kubernetes-int-or-string":true,"x-kubernetes-validations":[{"rule":"self.?b.optMap(c, c.matches('a+')).orValue(true)"}]}}}`), []byte(`{"a":[{"b":"x"}]}`))
	f.Fuzz(func(t *testing.T, schema, object []byte) {
		var s map[string]any
		var o any
		if json.Unmarshal(schema, &s) != nil || json.Unmarshal(object, &o) != nil {
			return
		}
		ctx := t.Context()
		first := celrule.Compile(ctx, s).Check(ctx, o, &celrule.Budget{Each: 10000, Left: 100000})
		again := celrule.Compile(ctx, s).Check(ctx, o, &celrule.Budget{Each: 10000, Left: 100000})
		if diff := cmp.Diff(first, again); diff != "" {
			t.Errorf("another answer the second time:\n%s", diff)
		}
	})
}
