package kube

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// E30: added component labels of a CRD do not concern other namespaces; all other changes
// do.
func TestComponentLabelsOfCRDs(t *testing.T) {
	read := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, `+text+`}`), &u.Object); err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, c := range []struct {
		name, old, new string
		want           bool
	}{
		{"first label", `metadata: {name: a, resourceVersion: "1"}`, `metadata: {name: a, resourceVersion: "2", labels: {operators.coreos.com/a.b: ""}}`, false},
		{"another label", `metadata: {name: a, labels: {x: v, operators.coreos.com/a.b: ""}}`, `metadata: {name: a, labels: {x: v, operators.coreos.com/a.b: "", operators.coreos.com/a.c: ""}}`, false},
		{"managed fields", `metadata: {name: a, managedFields: [{}]}`, `metadata: {name: a, managedFields: [{}, {}], labels: {operators.coreos.com/a.b: ""}}`, false},
		{"label removed", `metadata: {name: a, labels: {operators.coreos.com/a.b: ""}}`, `metadata: {name: a}`, true},
		{"other label", `metadata: {name: a}`, `metadata: {name: a, labels: {x: v}}`, true},
		{"status", `metadata: {name: a}`, `metadata: {name: a, labels: {operators.coreos.com/a.b: ""}}, status: {}`, true},
		{"deletion", `metadata: {name: a}`, `metadata: {name: a, deletionTimestamp: x, labels: {operators.coreos.com/a.b: ""}}`, true},
	} {
		if got := matters(kindCRD, read(c.old), read(c.new)); got != c.want {
			t.Errorf("%s: matters is %v, want %v", c.name, got, c.want)
		}
	}
}
