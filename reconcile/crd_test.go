package reconcile_test

import (
	"encoding/json"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/olm"
	"sigs.k8s.io/yaml"
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
		{"schema that makes no sense", v1, "[v1]", spec(`n: {type: number, pattern: "("}`), []string{`{n: 1}`},
			"version v1: the schema cannot be read: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var resources []olm.Object
			for i, s := range c.resources {
				resources = append(resources, *fromYAML[olm.Object](t, "{apiVersion: x.io/v1, kind: Thing, metadata: {namespace: ns, name: t"+string(rune('0'+i))+"}, spec: "+s+"}"))
			}
			var got []string
			for _, v := range reconcile.CheckCRD(crdOf(t, c.old, c.stored), crdOf(t, c.new, "[]"), resources) {
				got = append(got, v.String())
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

// E7: a v1beta1 definition has its version and schema elsewhere.
func TestCheckCRDv1beta1(t *testing.T) {
	old := fromYAML[olm.CustomResourceDefinition](t, `{metadata: {name: things.x.io}, spec: {group: x.io, version: v1}}`)
	new := fromYAML[olm.CustomResourceDefinition](t, `{metadata: {name: things.x.io}, spec: {group: x.io, version: v2}}`)
	got := reconcile.CheckCRD(old, new, nil)
	if len(got) != 1 || got[0].Version != "v1" {
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
		reconcile.CheckCRD(crd, crd, []olm.Object{o})
	})
}
