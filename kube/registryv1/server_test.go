package registryv1

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/apicheck"
	"github.com/olmkit/olmkit/kube/internal/envtest"
)

// TestServer compares what olmkit accepts with what a real API server accepts in a dry run.
func TestServer(t *testing.T) { // K232, K233, K235, K238
	config := envtest.Run(t)
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("mutated CRDs", func(t *testing.T) { mutatedCRDs(t, c) })
	t.Run("mutated objects", func(t *testing.T) { mutatedObjects(t, c) })
	t.Run("webhooks", func(t *testing.T) { webhooks(t, c) })
	t.Run("rendered bundles", func(t *testing.T) { renderedBundles(t, c) })
}

// webhooks checks that the API server refuses the webhooks that olmkit refuses, and no others.
func webhooks(t *testing.T, c client.Client) {
	none, some, zero, long := admissionv1.SideEffectClassNone, admissionv1.SideEffectClassSome, int32(0), int32(31)
	for name, change := range map[string]func(*v1alpha1.WebhookDescription){
		"valid":            func(*v1alpha1.WebhookDescription) {},
		"two parts":        func(w *v1alpha1.WebhookDescription) { w.GenerateName = "example.com" },
		"no side effects":  func(w *v1alpha1.WebhookDescription) { w.SideEffects = nil },
		"side effects":     func(w *v1alpha1.WebhookDescription) { w.SideEffects = &some },
		"no versions":      func(w *v1alpha1.WebhookDescription) { w.AdmissionReviewVersions = nil },
		"no timeout":       func(w *v1alpha1.WebhookDescription) { w.TimeoutSeconds = &zero },
		"too long":         func(w *v1alpha1.WebhookDescription) { w.TimeoutSeconds = &long },
		"not a port":       func(w *v1alpha1.WebhookDescription) { w.ContainerPort = 70000 },
		"the highest port": func(w *v1alpha1.WebhookDescription) { w.ContainerPort = 65535 },
	} {
		w := v1alpha1.WebhookDescription{
			Type: v1alpha1.ValidatingAdmissionWebhook, GenerateName: "check.example.com", ContainerPort: 443,
			SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
		}
		change(&w)
		b := &Bundle{CSVs: []Manifest[v1alpha1.ClusterServiceVersion]{{}}}
		b.CSV().Spec.WebhookDefinitions = []v1alpha1.WebhookDescription{w}
		port := w.ContainerPort
		o := &admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "check"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name: w.GenerateName, SideEffects: w.SideEffects, AdmissionReviewVersions: w.AdmissionReviewVersions, TimeoutSeconds: w.TimeoutSeconds,
				ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "s", Namespace: "ops", Port: &port}},
			}},
		}
		ours, theirs := webhookFields(b), c.Create(t.Context(), o, client.DryRunAll)
		if (len(ours) > 0) != (theirs != nil) {
			t.Errorf("%s:\n  olmkit: %v\n  server: %v", name, ours, theirs)
		}
	}
}

// refusal returns why the API server refuses to create an object, or nil.
func refusal(t *testing.T, c client.Client, o *unstructured.Unstructured) error {
	err := c.Create(t.Context(), o.DeepCopy(), client.DryRunAll)
	if t.Context().Err() != nil {
		t.Fatal(err)
	}
	return err // some mutations crash the request's handler
}

// renderedBundles checks that the API server accepts every object of published bundles that it
// has a kind for.
func renderedBundles(t *testing.T, c client.Client) {
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(sharedDir, "bundles"))
	if err != nil {
		t.Skip("the conformance set is not here")
	}
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return strings.HasPrefix(e.Name(), "syn-") })
	accepted, unknown := 0, map[string]bool{}
	every := testsize.Of(5, 2, 1)
	for i, e := range entries {
		if i%every != 0 {
			continue
		}
		b, err := sharedBundle(e.Name())
		if err != nil {
			continue
		}
		config := json.RawMessage(nil)
		if _, required := b.watchSchema(); required {
			config = json.RawMessage(`{"watchNamespace": "ops"}`)
			if b.ValidateConfig(t.Context(), "ops", config, false) != nil {
				config = json.RawMessage(`{"watchNamespace": "default"}`)
			}
		}
		m, err := b.Render(t.Context(), RenderOptions{Namespace: "ops", Config: config, Certificates: ServiceCA})
		if err != nil {
			t.Logf("%s: %v", e.Name(), err)
			continue
		}
		for _, o := range m.Objects() {
			switch err := refusal(t, c, o); {
			case meta.IsNoMatchError(err):
				unknown[o.GetKind()] = true
			case err != nil:
				t.Errorf("%s: %s: %v", e.Name(), Key(o), err)
			default:
				accepted++
			}
		}
	}
	t.Logf("%d objects accepted; kinds that the server does not have: %q", accepted, slices.Sorted(maps.Keys(unknown)))
	if accepted == 0 {
		t.Error("no object was accepted")
	}
}

const mutableCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, singular: thing, kind: Thing, listKind: ThingList, shortNames: [th], categories: [all]}
  conversion: {strategy: None}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}}
    additionalPrinterColumns: [{name: Age, type: date, format: date-time, jsonPath: .metadata.creationTimestamp}]
    selectableFields: [{jsonPath: .spec.text}]
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          metadata: {type: object, properties: {name: {type: string, pattern: "^a"}}}
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "self.replicas >= 0", message: negative, reason: FieldValueInvalid, fieldPath: .replicas}
            - {rule: "oldSelf.hasValue() || self.text.size() < 9", optionalOldSelf: true, messageExpression: "'long: ' + self.text"}
            properties:
              text: {type: string, pattern: "^a*$", maxLength: 10, minLength: 1, default: a, enum: [a, aa]}
              replicas: {type: integer, format: int32, minimum: 0, maximum: 10, default: 1}
              either: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
              template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              list:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key]
                maxItems: 5
                items:
                  type: object
                  required: [key]
                  properties: {key: {type: string, maxLength: 100}, value: {type: number, nullable: true}}
                  x-kubernetes-validations: [{rule: "self.key == oldSelf.key"}]
                x-kubernetes-validations: [{rule: "self.all(x, self.all(y, x.key.size() == y.key.size()))"}]
              map: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: object, properties: {x: {type: string, x-kubernetes-validations: [{rule: "self.size() < 100"}]}}}, maxProperties: 3}
              choice: {type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}], not: {required: [c]}}
          status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}
  - name: v1alpha1
    served: false
    storage: false
    deprecated: true
    deprecationWarning: old
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// mutatedCRDs changes a value somewhere in a CRD, and compares the verdicts.
func mutatedCRDs(t *testing.T, c client.Client) {
	base := map[string]any{}
	if err := yaml.Unmarshal([]byte(mutableCRD), &base); err != nil {
		t.Fatal(err)
	}
	if crd, o := typedCRD(t, base); len(apicheck.CRD(crd)) > 0 || refusal(t, c, o) != nil {
		t.Fatal(apicheck.CRD(crd), refusal(t, c, o))
	}
	differences := map[string]int{}
	refused, n := 0, testsize.Of(400, 1500, 6000)
	for seed := range n {
		doc := runtime.DeepCopyJSON(base)
		what := mutate(rand.New(rand.NewPCG(uint64(seed), 0)), doc)
		crd, o := typedCRD(t, doc)
		if crd == nil {
			continue
		}
		ours, theirs := append(apicheck.CRD(crd), apicheck.Conversion(crd)...), refusal(t, c, o)
		if theirs != nil {
			refused++
		}
		if (len(ours) > 0) != (theirs != nil) {
			t.Errorf("%s:\n  olmkit: %v\n  server: %v", what, ours.ToAggregate(), theirs)
			differences[what]++
		}
	}
	t.Logf("%d of %d are refused, %d differ", refused, n, len(differences))
	if refused < n/10 {
		t.Error("too few are refused")
	}
}

// typedCRD returns a CRD as olmkit decodes and renders it, or nil.
func typedCRD(t *testing.T, doc map[string]any) (*apiextensionsv1.CustomResourceDefinition, *unstructured.Unstructured) {
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if json.Unmarshal(text, crd) != nil {
		return nil, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		t.Fatal(err)
	}
	delete(content, "status")
	o := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return crd, o
}

// mutations are values that take the place of others.
var mutations = []string{
	`null`, `true`, `false`, `0`, `-1`, `1.5`, `""`, `"a"`, `"A b"`, `"object"`, `"array"`, `"string"`, `"integer"`, `"int32"`, `"("`, `"atomic"`, `"set"`, `"map"`,
	`"Webhook"`, `"Cluster"`, `"v2"`, `"things"`, `"self.x > 1"`, `"self.replicas"`, `".spec.list"`, `".spec"`, `[]`, `["a"]`, `["key", "key"]`, `["value"]`, `{}`, `{"type": "object"}`, `{"type": "string"}`,
	`{"type": "array"}`, `[{"rule": "1"}]`, `[{"rule": "self.size() < 100"}]`, `[{}]`,
	`"self == oldSelf"`, `"self.all(x, self.all(y, self.all(z, x == y || y == z)))"`, `"'a'"`, `" "`, `"true\n&& true"`, `"FieldValueRequired"`, `1000000`, `[{"rule": "self == oldSelf"}]`,
}

// keys are fields that are added.
var addedKeys = []string{
	"preserveUnknownFields", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations", "x-kubernetes-int-or-string", "x-kubernetes-embedded-resource",
	"x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "default", "nullable", "enum", "properties", "items", "additionalProperties", "type", "format",
	"pattern", "required", "uniqueItems", "$ref", "id", "definitions", "dependencies", "patternProperties", "additionalItems", "allOf", "anyOf", "not", "minimum", "maximum", "multipleOf", "maxLength", "minLength",
	"exclusiveMinimum", "title", "example", "webhook", "deprecationWarning", "singular",
	"message", "messageExpression", "optionalOldSelf", "fieldPath", "reason", "maxItems", "maxProperties", "rule",
}

// mutate changes one value of a document, and returns what it did.
func mutate(r *rand.Rand, doc map[string]any) string {
	return mutateWith(r, "spec", doc["spec"], mutations, addedKeys)
}

func mutateWith(r *rand.Rand, root string, doc any, mutations, keys []string) string {
	type place struct {
		path string
		in   map[string]any
		key  string
	}
	var places []place
	var objects []place
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			objects = append(objects, place{path: path, in: v})
			for _, k := range slices.Sorted(maps.Keys(v)) {
				places = append(places, place{path + "." + k, v, k})
				walk(path+"."+k, v[k])
			}
		case []any:
			for i, x := range v {
				walk(fmt.Sprintf("%s[%d]", path, i), x)
			}
		}
	}
	walk(root, doc)
	var value any
	text := mutations[r.IntN(len(mutations))]
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	switch r.IntN(5) {
	case 0:
		p := places[r.IntN(len(places))]
		delete(p.in, p.key)
		return "without " + p.path
	case 1, 2:
		p, key := objects[r.IntN(len(objects))], keys[r.IntN(len(keys))]
		p.in[key] = value
		return fmt.Sprintf("%s.%s added as %s", p.path, key, text)
	}
	p := places[r.IntN(len(places))]
	p.in[p.key] = value
	return fmt.Sprintf("%s is %s", p.path, text)
}
