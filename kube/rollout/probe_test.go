package rollout

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// What a probe returns for an object.
func TestProbe(t *testing.T) { // K82, K91, K92
	labeled := []Probe{{Labels: labels.SelectorFromSet(labels.Set{"a": "b"}), Assertions: []Assertion{{Field: "spec.x", Value: "1"}}}}
	for _, test := range []struct {
		object string
		probes []Probe
		want   verdict
		text   []string
	}{
		{"{kind: ConfigMap, apiVersion: v1}", DefaultProbes(), passed, nil},
		{"{kind: PersistentVolumeClaim, apiVersion: v1, status: {phase: Bound}}", DefaultProbes(), passed, nil},
		{"{kind: PersistentVolumeClaim, apiVersion: v1, status: {phase: Pending}}", DefaultProbes(), failed, []string{`value at key "status.phase" != "Bound"; expected: "Bound" got: "Pending"`}},
		{"{kind: PersistentVolumeClaim, apiVersion: v1}", DefaultProbes(), failed, []string{`missing key: "status.phase"`}},
		{"{kind: Issuer, apiVersion: cert-manager.io/v1}", DefaultProbes(), unknown, []string{"missing .status.conditions"}},
		{"{kind: Issuer, apiVersion: cert-manager.io/v1, status: {conditions: [{type: Ready, status: 'False'}]}}", DefaultProbes(), failed, []string{`.status.condition["Ready"] is False`}},
		{"{kind: Issuer, apiVersion: cert-manager.io/v1, metadata: {generation: 2}, status: {conditions: [{type: Ready, status: 'True', observedGeneration: 1}]}}", DefaultProbes(), unknown, []string{`.status.condition["Ready"] outdated`}},
		{"{kind: Issuer, apiVersion: cert-manager.io/v1, metadata: {generation: 2}, status: {observedGeneration: 1, conditions: [{type: Ready, status: 'True'}]}}", DefaultProbes(), unknown, []string{".status outdated"}},
		{"{kind: Issuer, apiVersion: example.com/v1}", DefaultProbes(), passed, nil},
		{"{kind: Deployment, apiVersion: apps/v1, status: {replicas: 2, updatedReplicas: 1, conditions: [{type: Available, status: 'True'}]}}", DefaultProbes(), failed, []string{`"status.updatedReplicas" != "status.replicas" expected: 1 got: 2`}},
		{"{kind: Deployment, apiVersion: apps/v1, status: {replicas: 2, updatedReplicas: 1, conditions: []}}", DefaultProbes(), unknown, []string{`missing .status.condition["Available"]`}},
		{"{kind: Deployment, apiVersion: apps/v1, status: {replicas: 2, conditions: [{type: Available, status: 'True'}]}}", DefaultProbes(), failed, []string{`"status.updatedReplicas" missing`}},
		{"{kind: StatefulSet, apiVersion: apps/v1, status: {replicas: 2, conditions: [{type: Available, status: 'True'}]}}", DefaultProbes(), failed, []string{`"status.updatedReplicas" missing`}},
		{"{kind: Namespace, apiVersion: v1, status: {phase: Terminating}}", DefaultProbes(), failed, []string{`value at key "status.phase" != "Active"; expected: "Active" got: "Terminating"`}},
		{"{kind: Certificate, apiVersion: cert-manager.io/v1}", DefaultProbes(), unknown, []string{"missing .status.conditions"}},
		{"{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, status: {conditions: [{type: Established, status: 'False'}]}}", DefaultProbes(), failed, []string{`.status.condition["Established"] is False`}},
		{"{kind: X, apiVersion: v1, metadata: {labels: {a: b}}, spec: {x: '1'}}", labeled, passed, nil},
		{"{kind: X, apiVersion: v1, metadata: {labels: {a: b}}, spec: {x: 1}}", labeled, failed, []string{`value at key "spec.x" != "1"; expected: "1" got: "1"`}},
		{"{kind: X, apiVersion: v1, spec: {x: '2'}}", labeled, passed, nil},
	} {
		o := &unstructured.Unstructured{}
		text, err := yaml.YAMLToJSON([]byte(test.object))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		if v, text := probe(o, test.probes); v != test.want || !slices.Equal(text, test.text) {
			t.Errorf("%s: %d %q; want %d %q", test.object, v, text, test.want, test.text)
		}
	}
}
