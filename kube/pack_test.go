package kube

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
)

// FuzzPack checks that a packed object, unpacked, is what Strip leaves of it without managed fields, and that
// it has the same key, versions, labels and index values.
func FuzzPack(f *testing.F) {
	for _, text := range []string{
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":{"x":"y"}}}`,
		`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"a.v1","namespace":"b","uid":"u","resourceVersion":"7","generation":2,
			"labels":{"olm.copiedFrom":"c"},"managedFields":[{"manager":"olm","operation":"Update","time":"2026-01-02T03:04:05Z","fieldsV1":{"f:spec":{}}}]},"spec":{"version":"1.0.0","n":1,"f":1.5},"status":{"phase":"Succeeded"}}`,
		`{"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"g","namespace":"b","deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"namespaces":["b","c"]}}`,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"r"},"roleRef":{"name":"r"},"subjects":[{"kind":"ServiceAccount","namespace":"b"},{"kind":"User","namespace":"c"}]}`,
		`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"c"}}`,
		`{"apiVersion":"example.com/v1","kind":"Namespace","metadata":{"name":"other"}}`,
		`{"apiVersion":"operators.coreos.com/v1","kind":"Operator","metadata":{"name":"etcd.ops","uid":"7e2f4ea7-6f3b-4d5c-9a39-4a3a7a1a6a52","labels":{"hash":"2cc53a197a5c223e075dd149eaeadf9b","etcd.ops":"install-bcdfg"}},
			"status":{"a":["install-bcdfg","7e2f4ea7-6f3b-4d5c-9a39-4a3a7a1a6a52","7e2f4ea7-6f3b-4d5c-9a39-4a3a7a1a6a53","2026-01-02T03:04:05Z","ops","123456","2cc53a197a5c223e075dd149eaeadf9b"]}}`,
		`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"\u0002","labels":{"\u0001":"\u0007","a":"\u0006"},"resourceVersion":"\u0005","uid":"\u0003"}}`,
	} {
		f.Add(text)
	}
	pack := Pack()
	f.Fuzz(func(t *testing.T, text string) {
		plain, u := &unstructured.Unstructured{}, &unstructured.Unstructured{}
		if plain.UnmarshalJSON([]byte(text)) != nil || u.UnmarshalJSON([]byte(text)) != nil {
			return
		}
		want, err := Strip(plain)
		if err != nil {
			t.Fatal(err)
		}
		o, err := pack(u)
		if err != nil {
			t.Fatal(err)
		}
		have, ok := o.(client.Object)
		if !ok {
			t.Fatalf("a %T", o)
		}
		if again, err := pack(o); again != o || err != nil {
			t.Errorf("packed twice: %v, %v", again, err)
		}
		for _, index := range []string{byOwner, bySubject, byOriginal, byCopy, byTarget, byOLM} {
			if diff := cmp.Diff(indexed(index, plain), indexed(index, have)); diff != "" {
				t.Errorf("index %s (-plain, +packed):\n%s", index, diff)
			}
		}
		type header struct {
			Key         olm.Key
			UID         string
			Version     string
			Generation  int64
			Labels      map[string]string
			Deleted     *metav1.Time
			OLM         []metav1.ManagedFieldsEntry
			DeepCopyKey olm.Key
		}
		headerOf := func(o client.Object) header {
			return header{keyOf(o), string(o.GetUID()), o.GetResourceVersion(), o.GetGeneration(), o.GetLabels(), o.GetDeletionTimestamp(), lastOfOLM(o), keyOf(o.DeepCopyObject().(client.Object))}
		}
		if diff := cmp.Diff(headerOf(plain), headerOf(have)); diff != "" {
			t.Errorf("(-plain, +packed):\n%s", diff)
		}
		full, err := unpacked(have)
		if err != nil {
			t.Fatal(err)
		}
		if _, isPacked := o.(*packed); isPacked {
			plain.SetManagedFields(nil)
		}
		if diff := cmp.Diff(want, full); diff != "" {
			t.Errorf("(-plain, +unpacked):\n%s", diff)
		}
	})
}

// The large part of equal operators is kept once.
func TestPackShares(t *testing.T) {
	pack := Pack()
	var first *packed
	for _, ns := range []string{"operators-1", "operators-2"} {
		u := csvObject(ns, "etcd.v1", 1, nil)
		u.Object["spec"] = map[string]any{"version": "1.0.0"}
		o, err := pack(u)
		if err != nil {
			t.Fatal(err)
		}
		p := o.(*packed)
		if first == nil {
			first = p
		}
		if p.parts != first.parts || p.labels != first.labels {
			t.Errorf("%s: %v", ns, p)
		}
	}
}

// BenchmarkPack packs and converts a Deployment.
func BenchmarkPack(b *testing.B) {
	u := deploymentObject(b)
	pack := Pack()
	b.Run("pack", func(b *testing.B) {
		for b.Loop() {
			o, err := pack(u)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(o.(*packed).values)), "B/object")
		}
	})
	o, err := pack(u)
	if err != nil {
		b.Fatal(err)
	}
	for name, o := range map[string]client.Object{"plain": u, "packed": o.(client.Object)} {
		b.Run("convert/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := decode(kindDeployment, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func deploymentObject(t testing.TB) *unstructured.Unstructured {
	var env []any
	for _, name := range []string{"OPERATOR_NAME", "WATCH_NAMESPACE", "POD_NAME", "RELATED_IMAGE_PROXY"} {
		env = append(env, map[string]any{"name": name, "valueFrom": map[string]any{"fieldRef": map[string]any{"fieldPath": "metadata.annotations['olm.targetNamespaces']"}}})
	}
	at := time.Unix(1e9, 0).UTC().Format(time.RFC3339)
	text, err := json.Marshal(map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "etcd-operator", "namespace": "operators", "uid": "7e2f4ea7-6f3b-4d5c-9a39-4a3a7a1a6a52", "resourceVersion": "123456", "creationTimestamp": at,
			"labels": map[string]any{"olm.owner": "etcd.v1", "olm.owner.namespace": "operators", "olm.owner.kind": "ClusterServiceVersion"}},
		"spec": map[string]any{"replicas": 1, "selector": map[string]any{"matchLabels": map[string]any{"name": "etcd"}}, "template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"name": "etcd"}},
			"spec":     map[string]any{"serviceAccountName": "etcd", "containers": []any{map[string]any{"name": "operator", "image": "registry.example/etcd@sha256:0000", "env": env}}}}},
		"status": map[string]any{"replicas": 1, "conditions": []any{map[string]any{"type": "Available", "status": "True", "lastUpdateTime": at, "message": "Deployment has minimum availability."}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return u
}
