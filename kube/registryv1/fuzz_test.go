package registryv1

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzRead checks that reading and rendering any files does not panic, and that rendering
// them twice gives equal results, with and without AsUpstream (D18).
func FuzzRead(f *testing.F) {
	f.Add([]byte("annotations: {operators.operatorframework.io.bundle.package.v1: demo}"), []byte("properties: []"), []byte("kind: ClusterServiceVersion\napiVersion: v1\n"), []byte("{}"))
	f.Add([]byte("annotations: {}"), []byte("properties: [{type: a, value: {}}]"),
		[]byte("kind: List\nitems:\n- kind: ClusterServiceVersion\n  metadata: {name: a, annotations: {olm.properties: '[]'}}\n  spec: {webhookdefinitions: [{type: ConversionWebhook, conversionCRDs: [a]}]}\n---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"),
		[]byte("{watchNamespace: null, deploymentConfig: {env: [{}]}}"))
	f.Add([]byte("{"), []byte("["), []byte(`{"kind":"Some"}{"kind":"Other"} x`), []byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, annotations, properties, manifest, config []byte) {
		fsys := memory{annotationsFile: annotations, propertiesFile: properties, "manifests/a": manifest}
		b, err := Read(t.Context(), fsys, nil)
		if err != nil {
			if e, ok := err.(*Error); !ok || len(e.Problems) == 0 {
				t.Fatalf("error %v without problems", err)
			}
			return
		}
		for _, upstream := range []bool{false, true} {
			opts := RenderOptions{Namespace: "ops", Config: config, Certificates: CertManager, AsUpstream: upstream}
			one, err1 := b.Render(t.Context(), opts)
			two, err2 := b.Render(t.Context(), opts)
			if !reflect.DeepEqual(one, two) || (err1 == nil) != (err2 == nil) || err1 != nil && err1.Error() != err2.Error() {
				t.Fatalf("two results: %v %v", err1, err2)
			}
		}
	})
}

// FuzzConfig checks that validating any configuration does not panic, that problems are
// sorted, and that upstream accepts every configuration that olmkit accepts (K202, D18).
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `[]`, `a`, `{"watchNamespace":"a"}`, `{"watchNamespace":["a"]}`,
		`{"deploymentConfig":{"env":[{"name":"a"}],"resources":{"limits":{"cpu":"1"}}}}`,
		`{"deploymentConfig":{"tolerations":[{"tolerationSeconds":1e99}],"volumes":[{"name":"a"},{"name":"a"}]}}`,
		`{"deploymentConfig":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}}}`,
	} {
		f.Add([]byte(text))
	}
	csv := `{"kind":"ClusterServiceVersion","apiVersion":"v1","spec":{"installModes":[{"type":"AllNamespaces","supported":true},{"type":"SingleNamespace","supported":true}]}}`
	b, err := Read(f.Context(), memory{annotationsFile: []byte("annotations: {}"), "manifests/csv": []byte(csv)}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		ours, peers := b.ValidateConfig(t.Context(), "ops", text, false), b.ValidateConfig(t.Context(), "ops", text, true)
		if ours == nil && peers != nil {
			t.Errorf("%s: accepted, but not by upstream: %v", text, peers)
		}
		var e *Error
		if ours != nil {
			e = ours.(*Error)
			for i := range e.Problems[1:] {
				if e.Problems[i].Subject > e.Problems[i+1].Subject {
					t.Errorf("%s: problems are not sorted: %v", text, ours)
				}
			}
		}
		_, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
	})
}
