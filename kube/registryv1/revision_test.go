package registryv1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func configMap(name, value string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name},
		"data": map[string]any{"a": value},
	}}
}

// TestSplitPhases splits a phase of 120 objects (K79, K210).
func TestSplitPhases(t *testing.T) {
	var objects []*unstructured.Unstructured
	for i := range 120 {
		objects = append(objects, configMap(fmt.Sprintf("m%03d", 119-i), ""))
	}
	var got []string
	for _, p := range SplitPhases(Phases(objects)) {
		got = append(got, fmt.Sprintf("%s %d %s", p.Name, len(p.Objects), p.Objects[0].GetName()))
	}
	if want := []string{"configuration 50 m000", "configuration-2 50 m050", "configuration-3 20 m100"}; !slices.Equal(got, want) {
		t.Errorf("phases %q; want %q", got, want)
	}
}

// TestPack packs objects that need two Secrets, one that must be compressed, and one
// that is too large (K76), with the labels of their owner (K74).
func TestPack(t *testing.T) {
	half := strings.Repeat("x", 500<<10)
	phases := Own([]Phase{{"configuration", []*unstructured.Unstructured{
		configMap("a", half), configMap("b", half), configMap("c", half+half),
	}}}, Owner{Name: "ext", Package: "demo", Version: "1.0.0"})
	if got := phases[0].Objects[0].GetLabels()["olm.operatorframework.io/owner-name"]; got != "ext" {
		t.Errorf("owner-name %q", got)
	}
	p, err := Pack(phases, "ext-1", "system", "ext")
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Secrets) != 2 || p.Refs[0][0].Name != p.Secrets[0].Name || p.Refs[0][1].Name != p.Secrets[1].Name {
		t.Fatalf("%d secrets, refs %v; want the first two objects in two", len(p.Secrets), p.Refs)
	}
	if text := p.Secrets[1].Data[p.Refs[0][2].Key]; !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		t.Error("the object of 1000 KiB is not compressed")
	}
	for _, s := range p.Secrets {
		if s.Immutable == nil || !*s.Immutable {
			t.Errorf("secret %s is not immutable", s.Name)
		}
	}
	var random strings.Builder
	for i := uint64(1); random.Len() < 2<<20; i++ {
		fmt.Fprintf(&random, "%016x", i*0x9e3779b97f4a7c15*i)
	}
	_, err = Pack([]Phase{{"configuration", []*unstructured.Unstructured{configMap("a", random.String())}}}, "ext-1", "system", "ext")
	if e, ok := err.(*Error); !ok || e.Problems[0].Code != "objectSize" {
		t.Errorf("error %v; want objectSize", err)
	}
}

// TestLimits reads a bundle that exceeds each limit.
func TestLimits(t *testing.T) {
	fsys := memory{
		annotationsFile:      []byte("annotations: {}"),
		"manifests/csv.yaml": []byte("kind: ClusterServiceVersion\napiVersion: v1\n"),
		"manifests/more":     []byte("a: &a [1, 2, 3]\nb: [*a, *a, *a]\nkind: Some\n---\nkind: Other\n"),
	}
	for name, limits := range map[string]Limits{"BundleSize": {BundleSize: 60}, "DocumentSize": {DocumentSize: 20}, "Files": {Files: 1}, "Objects": {Objects: 2}, "Expansion": {Expansion: 1}} {
		_, err := Read(t.Context(), fsys, &ReadOptions{Limits: &limits})
		e, ok := err.(*Error)
		if !ok || !slices.ContainsFunc(e.Problems, func(p Problem) bool {
			return p.Code == "limit" && strings.Contains(p.Message, "exceeds limit "+name+"=")
		}) {
			t.Errorf("%+v: error %v; want limit %s", limits, err, name)
		}
	}
	_, err := FromObjects(t.Context(), "demo", [][]byte{fsys["manifests/csv.yaml"], fsys["manifests/more"]}, &ReadOptions{Limits: &Limits{BundleSize: 60}})
	if e, ok := err.(*Error); !ok || e.Problems[0].Code != "limit" {
		t.Errorf("objects: error %v; want limit BundleSize", err)
	}
	if _, err := Read(t.Context(), fsys, nil); err != nil {
		t.Errorf("without limits: %v", err)
	}
}

// TestConfigSchema checks that the schema is JSON and states in standard keywords what the install
// modes allow for watchNamespace (K23, K24, K26).
func TestConfigSchema(t *testing.T) {
	for _, test := range []struct{ modes, namespace, want string }{
		{"Own", "", `"type":"string"}`},
		{"Own", "ops", `{"const":"ops",`},
		{"Single", "ops", `"not":{"const":"ops"}`},
		{"Own Single", "ops", `"type":"string"}`},
		{"All Own", "ops", `{"anyOf":[{"type":"null"},{"const":"ops",`},
	} {
		var modes []string
		for m := range strings.FieldsSeq(test.modes) {
			name := m + "Namespace"
			if m == "All" {
				name += "s"
			}
			modes = append(modes, "{type: "+name+", supported: true}")
		}
		b, err := Read(t.Context(), memory{
			annotationsFile:      []byte("annotations: {}"),
			"manifests/csv.yaml": []byte("{kind: ClusterServiceVersion, apiVersion: v1, spec: {installModes: [" + strings.Join(modes, ", ") + "]}}"),
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			Required   []string
			Properties map[string]any
		}
		if err := json.Unmarshal(b.ConfigSchema(test.namespace), &schema); err != nil {
			t.Fatal(err)
		}
		watch, err := json.Marshal(schema.Properties["watchNamespace"])
		if err != nil {
			t.Fatal(err)
		}
		if required := !strings.Contains(test.modes, "All"); required != slices.Contains(schema.Required, "watchNamespace") ||
			!strings.Contains(string(watch), test.want) || strings.Contains(string(watch), "format") || test.namespace == "" && strings.Contains(string(watch), "const") {
			t.Errorf("%s in %q: required %v, %s", test.modes, test.namespace, schema.Required, watch)
		}
	}
}
