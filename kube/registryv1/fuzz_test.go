package registryv1

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/yamljson"
)

// FuzzRead checks that reading and rendering any files does not panic, and that rendering
// them twice gives equal results, with and without AsUpstream (D18).
func FuzzRead(f *testing.F) {
	f.Add([]byte("annotations: {operators.operatorframework.io.bundle.package.v1: demo}"), []byte("properties: []"), []byte("kind: ClusterServiceVersion\napiVersion: v1\n"), []byte("{}"))
	f.Add([]byte("annotations: {}"), []byte("properties: [{type: a, value: {}}]"),
		[]byte("kind: List\nitems:\n- kind: ClusterServiceVersion\n  metadata: {name: a, annotations: {olm.properties: '[]'}}\n  spec: {webhookdefinitions: [{type: ConversionWebhook, conversionCRDs: [a]}]}\n---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n"),
		[]byte("{watchNamespace: null, deploymentConfig: {env: [{}]}}"))
	f.Add([]byte("annotations: {}"), []byte("properties: []"), []byte("kind: ClusterServiceVersion\napiVersion: v1\n---"+mutableCRD), []byte("{}"))
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
// sorted, that upstream accepts every configuration that olmkit accepts (K202, D18), and that
// the violations are those that operator-controller's library finds (K28).
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `[]`, `a`, `{"watchNamespace":"a"}`, `{"watchNamespace":["a"]}`,
		`{"deploymentConfig":{"env":[{"name":"a"}],"resources":{"limits":{"cpu":"1"}}}}`,
		`{"deploymentConfig":{"tolerations":[{"tolerationSeconds":1e99}],"volumes":[{"name":"a"},{"name":"a"}]}}`,
		`{"deploymentConfig":{"volumes":[{"name":"a","ephemeral":{"volumeClaimTemplate":{"metadata":{"creationTimestamp":"now","labels":{"a":1}},"spec":{"resources":{"limits":{"a":[]}}}}}}]}}`,
		`{"watchNamespace":"-A~/","a/b":1,"c~d":{}}`, `{"watchNamespace":"` + strings.Repeat("é", 64) + `"}`,
		`{"deploymentConfig":{"env":[{"nome":"a"},1,{"name":null,"value":1.5}],"annotations":{"a/b":1,"~":null},"nodeSelector":[]}}`,
		`{"deploymentConfig":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[]}}}}}`,
	} {
		f.Add([]byte(text))
	}
	cases, err := filepath.Glob("testdata/case/config-*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatal("no cases", err)
	}
	for _, file := range cases {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range a.Files {
			var opts struct{ Config json.RawMessage }
			if part.Name == "options" && yaml.Unmarshal(part.Data, &opts) == nil {
				f.Add([]byte(opts.Config))
			}
		}
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
		comparePeer(t, b, text)
		_, err := json.Marshal(e)
		if err != nil {
			t.Error(err)
		}
	})
}

// comparePeer checks that the library that operator-controller uses finds the same violations
// in a configuration.
func comparePeer(t *testing.T, b *Bundle, text []byte) {
	doc, err := yamljson.JSON(t.Context(), text, nil)
	var value any
	if err != nil || json.Unmarshal(doc, &value) != nil {
		return
	}
	for _, upstream := range []bool{false, true} {
		c := jsonschema.NewCompiler()
		for name, check := range formats("ops", upstream) {
			c.RegisterFormat(&jsonschema.Format{Name: name, Validate: check})
		}
		if err := c.AddResource("config.json", b.schema()); err != nil {
			t.Fatal(err)
		}
		compiled, err := c.Compile("config.json")
		if err != nil {
			t.Fatal(err)
		}
		got := (&evaluator{formats("ops", upstream)}).check(b.schema(), value, nil)
		err = compiled.Validate(value)
		if (got == nil) != (err == nil) {
			t.Fatalf("%s: %+v, but the library returns %v", text, got, err)
		}
		if err == nil {
			continue
		}
		var peer *jsonschema.ValidationError
		if !errors.As(err, &peer) {
			t.Fatal(err)
		}
		if want := ofLibrary(peer); !reflect.DeepEqual(b.violations(got), b.violations(want)) {
			t.Errorf("%s: %+v, but the library finds %+v", text, b.violations(got), b.violations(want))
		}
		var want []string
		for _, unit := range peer.BasicOutput().Errors {
			want = append(want, unit.Error.String())
		}
		var list []string
		for _, v := range got.members() {
			for _, unit := range v.list() {
				list = append(list, unit.kind.LocalizedString(english))
			}
		}
		slices.Sort(list) // the library goes through objects in random order
		slices.Sort(want)
		if !slices.Equal(list, want) {
			t.Errorf("%s: lists %q, but the library %q", text, list, want)
		}
	}
}

// ofLibrary returns the library's tree.
func ofLibrary(e *jsonschema.ValidationError) *violation {
	out := &violation{at: e.InstanceLocation, kind: e.ErrorKind}
	if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(k.Properties)
	}
	for _, cause := range e.Causes {
		out.causes = append(out.causes, ofLibrary(cause))
	}
	return out
}
