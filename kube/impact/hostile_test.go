package impact

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// many is the number of properties of a hostile schema. The time grows linearly with it.
const many = 2000

// hostile returns a bundle whose CRD has many properties, each with alternatives that are
// nested ten levels deep, and a CEL rule. The limit of each property is that of the caller.
func hostile(t *testing.T, limit int) Bundle {
	t.Helper()
	type schema = map[string]any
	properties := schema{}
	for i := range many {
		deep := schema{"maximum": limit}
		for range 10 {
			deep = schema{"anyOf": []any{deep}}
		}
		deep["type"] = "integer"
		deep["x-kubernetes-validations"] = []any{schema{"rule": fmt.Sprintf("self < %d", limit+i)}}
		properties[fmt.Sprint("p", i)] = deep
	}
	objects := [][]byte{[]byte(`{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": {"name": "demo"},
"spec": {"version": "1.0.0", "installModes": [{"type": "AllNamespaces", "supported": true}]}}`)}
	crd, err := json.Marshal(schema{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": schema{"name": "demos.example.com"},
		"spec": schema{"group": "example.com", "scope": "Namespaced", "names": schema{"kind": "Demo", "plural": "demos"}, "versions": []any{
			schema{"name": "v1", "served": true, "storage": true, "schema": schema{"openAPIV3Schema": schema{"type": "object", "properties": properties}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := registryv1.FromObjects(t.Context(), "demo", append(objects, crd), nil)
	if err != nil {
		t.Fatal(err)
	}
	return Bundle{Bundle: b}
}

// TestHostile checks that every field of a huge schema is compared (K226).
func TestHostile(t *testing.T) {
	old, created := hostile(t, 10), hostile(t, 5)
	r, err := Compare(t.Context(), old, created, nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Of(CRDs).Changes); r.Verdict != Breaks || n != 2*many { // the limit and the rule
		t.Errorf("verdict %s with %d changes of the CRD, want %d", r.Verdict, n, 2*many)
	}
}
