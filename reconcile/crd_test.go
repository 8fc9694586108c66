package reconcile_test

import (
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

func fromYAML[T any](t *testing.T, text string) *T {
	t.Helper()
	v := new(T)
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

func crdOf(t *testing.T, versions, stored string) *olm.CustomResourceDefinition {
	return fromYAML[olm.CustomResourceDefinition](t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.io}
spec: {group: x.io, names: {kind: Thing, plural: things}, versions: `+versions+`}
status: {storedVersions: `+stored+`}`)
}

// E7: every violation is listed, in order.
func TestCheckCRD(t *testing.T) {
	spec := func(properties string) string {
		return `[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {` + properties + `}}}}}}]`
	}
	const v1 = `[{name: v1, served: true, storage: true}]`
	for _, c := range []struct {
		name, old, stored, new string
		resources              []string
		want                   string
	}{
		{"same versions", v1, "[v1]", v1, nil, ""},
		{"served version gone", `[{name: v1, served: true, storage: true}, {name: v2, served: true}]`, "[v1]", v1, nil,
			"version v2: served and missing from the new definition"},
		{"stored version gone", `[{name: v1, served: false, storage: true}]`, "[v1]", `[{name: v2, served: true, storage: true}]`, nil,
			"version v1: stored and missing from the new definition"},
		{"served and stored is told once", v1, "[v1]", `[{name: v2, served: true, storage: true}]`, nil,
			"version v1: served and missing from the new definition"},
		{"version no longer served, never stored", `[{name: v1, served: false}]`, "[]", `[{name: v2, served: true, storage: true}]`, nil, ""},
		{"type", v1, "[v1]", spec(`size: {type: integer}`), []string{`{size: 1}`, `{size: big}`},
			`Thing ns/t1 (v1): /spec/size: got string, want integer`},
		{"every violation of every object", v1, "[v1]", spec(`size: {type: integer, maximum: 3}, name: {type: string, enum: [a, b]}`), []string{`{size: 4, name: c}`, `{size: 5}`}, "" +
			"Thing ns/t0 (v1): /spec/name: value must be one of 'a', 'b'\n" +
			"Thing ns/t0 (v1): /spec/size: maximum: got 4, want 3\n" +
			"Thing ns/t1 (v1): /spec/size: maximum: got 5, want 3"},
		{"unknown fields are pruned, not refused", v1, "[v1]", spec(`size: {type: integer}`), []string{`{color: red}`}, ""},
		{"required with a default", v1, "[v1]", strings.Replace(spec(`mode: {type: string, default: fast}`), "properties: {mode", "required: [mode], properties: {mode", 1), []string{`{}`}, ""},
		{"required without a default", v1, "[v1]", strings.Replace(spec(`mode: {type: string}`), "properties: {mode", "required: [mode], properties: {mode", 1), []string{`{}`},
			"Thing ns/t0 (v1): /spec: missing property 'mode'"},
		{"nullable", v1, "[v1]", spec(`a: {type: string, nullable: true, enum: [x]}, b: {type: string}`), []string{`{a: null, b: null}`},
			"Thing ns/t0 (v1): /spec/b: got null, want string"},
		{"int or string", v1, "[v1]", spec(`port: {x-kubernetes-int-or-string: true}`), []string{`{port: 80}`, `{port: http}`, `{port: 1.5}`},
			"Thing ns/t2 (v1): /spec/port: got number, want integer or string"},
		{"exclusive bound as OpenAPI has it", v1, "[v1]", spec(`num: {type: integer, minimum: 1, exclusiveMinimum: true}`), []string{`{num: 1}`},
			"Thing ns/t0 (v1): /spec/num: exclusiveMinimum: got 1, want 1"},
		{"list that is a map", v1, "[v1]", spec(`ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object}}`),
			[]string{`{ports: [{name: a, v: 1}, {name: a, v: 2}]}`}, "Thing ns/t0 (v1): /spec/ports/1: occurs twice in the list"},
		{"list that is a set", v1, "[v1]", spec(`names: {type: array, x-kubernetes-list-type: set, items: {type: string}}`),
			[]string{`{names: [a, b, a]}`}, "Thing ns/t0 (v1): /spec/names/2: occurs twice in the list"},
		{"preserve unknown fields", v1, "[v1]", spec(`any: {type: object, x-kubernetes-preserve-unknown-fields: true}`), []string{`{any: {deep: [1]}}`}, ""},
		{"rule (CEL)", v1, "[v1]", strings.Replace(spec(`a: {type: integer}, b: {type: integer}`), "properties: {a", `x-kubernetes-validations: [{rule: "self.a <= self.b", message: a must not exceed b}], properties: {a`, 1), []string{`{a: 1, b: 2}`, `{a: 2, b: 1}`},
			`Thing ns/t1 (v1): /spec: a must not exceed b`},
		{"rule about a change (CEL)", v1, "[v1]", spec(`a: {type: integer, x-kubernetes-validations: [{rule: "self == oldSelf"}]}`), []string{`{a: 1}`}, ""},
		{"rule on a default (CEL)", v1, "[v1]", spec(`a: {type: integer, default: 3, x-kubernetes-validations: [{rule: "self < 3", message: too much}]}`), []string{`{}`},
			`Thing ns/t0 (v1): /spec/a: too much`},
		{"rule that cannot be checked (CEL)", v1, "[v1]", spec(`a: {type: string, x-kubernetes-validations: [{rule: "isURL(self)"}]}`), []string{`{a: x}`},
			`? version v1: schema of /spec/a: rule "isURL(self)": it does not compile here: 1:6: undeclared reference to 'isURL'`},
		{"rules on an object of another form (CEL)", v1, "[v1]", spec(`a: {type: integer, x-kubernetes-validations: [{rule: "self < 3"}]}`), []string{`{a: x}`}, "" +
			"Thing ns/t0 (v1): /spec/a: got string, want integer\n" +
			"? Thing ns/t0 (v1): /: its rules are not checked before that is fixed"},
		{"as the storage version, too", v1, "[v1]", `[{name: v1, served: true}, {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [a]}}}}}]`, []string{`{}`},
			`Thing ns/t0 (v2): /spec: missing property 'a'`},
		{"as the storage version if its own is gone", v1, "[v1]", `[{name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [a]}}}}}]`, []string{`{}`}, "" +
			"version v1: served and missing from the new definition\n" +
			"Thing ns/t0 (v2): /spec: missing property 'a'"},
		{"schema that makes no sense", v1, "[v1]", spec(`n: {type: number, pattern: "("}`), []string{`{n: 1}`},
			"version v1: the schema cannot be read: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var resources []olm.Object
			for i, s := range c.resources {
				resources = append(resources, *fromYAML[olm.Object](t, "{apiVersion: x.io/v1, kind: Thing, metadata: {namespace: ns, name: t"+string(rune('0'+i))+"}, spec: "+s+"}"))
			}
			var got []string
			list, err := reconcile.CheckCRD(t.Context(), crdOf(t, c.old, c.stored), crdOf(t, c.new, "[]"), reconcile.CRDUse{Resources: resources})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range list {
				mark := ""
				if v.Unchecked {
					mark = "? "
				}
				got = append(got, mark+v.String())
			}
			text := strings.Join(got, "\n")
			if strings.HasSuffix(c.want, ": ") {
				text = text[:min(len(text), len(c.want))]
			}
			if diff := gocmp.Diff(c.want, text); diff != "" {
				t.Errorf("CheckCRD (-want +got):\n%s", diff)
			}
		})
	}
}

// E7: what a webhook converts is not taken for an object of the other version.
func TestCheckCRDWebhook(t *testing.T) {
	old := crdOf(t, `[{name: v1, served: false, storage: true}]`, "[]")
	new := crdOf(t, `[{name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, required: [a]}}}]`, "[]")
	new.Spec.Conversion = &olm.CRDConversion{Strategy: "Webhook"}
	thing := *fromYAML[olm.Object](t, `{apiVersion: x.io/v1, kind: Thing, metadata: {name: mine}}`)
	got, err := reconcile.CheckCRD(t.Context(), old, new, reconcile.CRDUse{Resources: []olm.Object{thing}})
	if err != nil {
		t.Fatal(err)
	}
	want := []reconcile.CRDViolation{{Version: "v1", Object: thing.Key(), Message: "what conversion Webhook makes of it in version v2 is not known", Unchecked: true}}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("CheckCRD (-want +got):\n%s", diff)
	}
}

// E7: a version that is there and no longer served is as good as gone for the
// operators that own or require it.
func TestCheckCRDUnserved(t *testing.T) {
	old := crdOf(t, `[{name: v1, served: true}, {name: v2, served: true, storage: true}]`, "[v1, v2]")
	new := crdOf(t, `[{name: v1, served: false}, {name: v2, served: true, storage: true}]`, "[]")
	csv := func(member, version string) *olm.ClusterServiceVersion {
		return fromYAML[olm.ClusterServiceVersion](t, `{metadata: {name: a.v1, namespace: ns}, spec: {customresourcedefinitions: {`+member+`: [{name: things.x.io, version: `+version+`, kind: Thing}]}}}`)
	}
	for _, c := range []struct {
		name string
		csv  *olm.ClusterServiceVersion
		want string
	}{
		{"owned", csv("owned", "v1"), "version v1: served and not served by the new definition, and used by ns/a.v1"},
		{"required", csv("required", "v1"), "version v1: served and not served by the new definition, and used by ns/a.v1"},
		{"owned in another version", csv("owned", "v2"), ""},
		{"nobody's", &olm.ClusterServiceVersion{}, ""},
	} {
		list, err := reconcile.CheckCRD(t.Context(), old, new, reconcile.CRDUse{Operators: []*olm.ClusterServiceVersion{c.csv}})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range list {
			got = append(got, v.String())
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}

// E7: a v1beta1 definition has its version and schema elsewhere.
func TestCheckCRDv1beta1(t *testing.T) {
	old := fromYAML[olm.CustomResourceDefinition](t, `{metadata: {name: things.x.io}, spec: {group: x.io, version: v1}}`)
	new := fromYAML[olm.CustomResourceDefinition](t, `{metadata: {name: things.x.io}, spec: {group: x.io, version: v2}}`)
	got, err := reconcile.CheckCRD(t.Context(), old, new, reconcile.CRDUse{})
	if err != nil || len(got) != 1 || got[0].Version != "v1" {
		t.Errorf("CheckCRD = %v, want the loss of v1", got)
	}
}

func FuzzCheckCRD(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"spec":{"type":"object","nullable":true}}}`), []byte(`{"spec":null}`))
	f.Add([]byte(`{"x-kubernetes-int-or-string":true,"default":1}`), []byte(`{}`))
	f.Add([]byte(`{"properties":{"a":{"items":{"x-kubernetes-list-type":"set"}}},"allOf":[{}],"not":{},"$ref":"#"}`), []byte(`{"a":[[1,1]]}`))
	f.Fuzz(func(t *testing.T, schema, object []byte) {
		if !json.Valid(schema) {
			return
		}
		var o olm.Object
		if json.Unmarshal(object, &o) != nil {
			return
		}
		o.APIVersion, o.Kind = "x.io/v1", "Thing"
		crd := new(olm.CustomResourceDefinition)
		crd.Spec.Versions = []olm.CRDVersion{{Name: "v1", Served: true, Storage: true, Schema: &olm.CRDSchema{OpenAPIV3Schema: schema}}}
		if _, err := reconcile.CheckCRD(t.Context(), crd, crd, reconcile.CRDUse{Resources: []olm.Object{o}}); err != nil {
			t.Fatal(err)
		}
	})
}
