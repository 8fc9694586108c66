package impact

import (
	"maps"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/kube/internal/envtest"
)

// TestFixed checks that an API server refuses a change if and only if isFixed reports it (K229). The
// changes have every field of fixedKinds.
func TestFixed(t *testing.T) {
	config := envtest.Run(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, tt := range []struct {
		old, created string
		refused      bool
	}{
		{`apiVersion: v1, kind: ConfigMap, immutable: true, data: {a: b}`, `data: {a: c}`, true},
		{`apiVersion: v1, kind: ConfigMap, immutable: true`, `binaryData: {a: Yg==}`, true},
		{`apiVersion: v1, kind: ConfigMap, immutable: true`, `immutable: false`, true},
		{`apiVersion: v1, kind: ConfigMap, immutable: true`, `metadata: {labels: {a: b}}`, false},
		{`apiVersion: v1, kind: ConfigMap, data: {a: b}`, `{immutable: true, data: {a: c}}`, false},
		{`apiVersion: v1, kind: Secret, immutable: true`, `data: {a: Yg==}`, true},
		{`apiVersion: v1, kind: Secret, immutable: true`, `stringData: {a: b}`, true},
		{`apiVersion: v1, kind: Secret, immutable: true`, `immutable: false`, true},
		{`apiVersion: v1, kind: Secret`, `data: {a: Yg==}`, false},
		{`apiVersion: v1, kind: Secret`, `type: example.com/x`, true},
		{`apiVersion: v1, kind: Service, spec: {ports: [{port: 1}]}`, `spec: {clusterIP: None}`, true},
		{`apiVersion: v1, kind: Service, spec: {clusterIP: None, clusterIPs: [None], ports: [{port: 1}]}`, `spec: {clusterIP: 10.0.0.9, clusterIPs: [10.0.0.9]}`, true},
		{`apiVersion: v1, kind: Service, spec: {clusterIP: None, ports: [{port: 1}]}`, `spec: {ports: [{port: 2}]}`, false},
		{`apiVersion: v1, kind: Service, spec: {type: ExternalName, externalName: a.b}`, `spec: {type: ClusterIP, externalName: null, clusterIP: None}`, false},
		{`apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}`, `roleRef: {name: edit}`, true},
		{`apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}`, `roleRef: {name: edit}`, true},
		{`apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}`, `subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: g}]`, false},
		{`apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1`, `value: 2`, true},
		{`apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1`, `preemptionPolicy: Never`, true},
		{`apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, value: 1`, `{globalDefault: true, description: a}`, false},
		{`apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1, selector: {matchLabels: {a: b}}}`, `spec: {minAvailable: 2, selector: {matchLabels: {a: c}}}`, false},
	} {
		t.Run(tt.old+" "+tt.created, func(t *testing.T) {
			read := func(text string) map[string]any {
				var out map[string]any
				if err := yaml.Unmarshal([]byte(text), &out); err != nil {
					t.Fatal(err)
				}
				return out
			}
			old := read("{" + tt.old + ", metadata: {name: demo}}")
			created := merged(old, read(tt.created))
			o := &unstructured.Unstructured{Object: old}
			gvr, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
			id := objectID{group: gvr.Group, kind: o.GetKind(), namespace: "default", name: "demo"}
			api := dynamic.ResourceInterface(client.Resource(gvr).Namespace("default"))
			switch gvr.Resource {
			case "clusterrolebindings", "priorityclasses":
				api = client.Resource(gvr)
			}
			apply := func(o map[string]any) error {
				_, err := api.Apply(t.Context(), "demo", &unstructured.Unstructured{Object: o}, metav1.ApplyOptions{FieldManager: "test", Force: true})
				return err
			}
			if err := apply(old); err != nil {
				t.Fatal(err)
			}
			err := apply(created)
			if refused := apierrors.IsInvalid(err); refused != tt.refused || err != nil && !refused {
				t.Errorf("the API server: %v; refused should be %v", err, tt.refused)
			}
			fixed := false
			for _, f := range diff("", old, created) {
				for _, k := range fixedKinds {
					for _, field := range k.fields {
						if k.group == id.group && k.kind == id.kind && len(f.path) >= len(field) && f.path[:len(field)] == field && tt.refused {
							tested[k.group+" "+k.kind+" "+field] = true
						}
					}
				}
				fixed = fixed || isFixed(id, f.path, old, created)
			}
			if fixed != tt.refused {
				t.Errorf("fixed: %v, want %v", fixed, tt.refused)
			}
			zero := int64(0)
			background := metav1.DeletePropagationBackground
			if err := api.Delete(t.Context(), "demo", metav1.DeleteOptions{GracePeriodSeconds: &zero, PropagationPolicy: &background}); err != nil {
				t.Fatal(err)
			}
			patch := []byte(`{"metadata": {"finalizers": null}}`)
			if _, err := api.Patch(t.Context(), "demo", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
		})
	}
	for _, k := range fixedKinds {
		for _, field := range k.fields {
			if !tested[k.group+" "+k.kind+" "+field] {
				t.Errorf("no change tests %s of %s", field, k.kind)
			}
		}
	}
}

// merged returns a copy of an object with a merge patch.
func merged(o, patch map[string]any) map[string]any {
	out := maps.Clone(o)
	for _, k := range slices.Sorted(maps.Keys(patch)) {
		v := patch[k]
		was, isMap := out[k].(map[string]any)
		next, nextMap := v.(map[string]any)
		switch {
		case v == nil:
			delete(out, k)
		case isMap && nextMap:
			out[k] = merged(was, next)
		default:
			out[k] = v
		}
	}
	return out
}
