package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/resolver"
)

const catalog = `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries: [{name: etcd.v0.9.4, replaces: etcd.v0.9.2}, {name: etcd.v0.9.2}]
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: registry.example.com/etcd:0.9.2
properties: [{type: olm.package, value: {packageName: etcd, version: 0.9.2}}]
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.4
image: registry.example.com/etcd:0.9.4
properties: [{type: olm.package, value: {packageName: etcd, version: 0.9.4}}]
---
schema: olm.package
name: backup
defaultChannel: stable
---
schema: olm.channel
package: backup
name: stable
entries: [{name: backup.v1.0.0}]
---
schema: olm.bundle
package: backup
name: backup.v1.0.0
image: registry.example.com/backup:1.0.0
properties:
- {type: olm.package, value: {packageName: backup, version: 1.0.0}}
- {type: olm.package.required, value: {packageName: etcd, versionRange: "<0.9.4"}}
`

func subscription(name string) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "operators"},
		Spec:       &v1alpha1.SubscriptionSpec{Package: name, Channel: "stable", CatalogSource: "community", CatalogSourceNamespace: "olm"},
		Status: v1alpha1.SubscriptionStatus{Conditions: []v1alpha1.SubscriptionCondition{{
			Type: v1alpha1.SubscriptionResolutionFailed, Status: corev1.ConditionTrue, Reason: "ConstraintsNotSatisfiable",
		}}},
	}
}

// explain returns the events of a reconciliation of the subscription backup.
func explain(t *testing.T, objects ...client.Object) []string {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := kube.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	index, err := graph.LoadReader(t.Context(), strings.NewReader(catalog), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Name: "community", Namespace: "olm"}}
	recorder := events.NewFakeRecorder(10)
	e := &Explainer{
		Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, source)...).Build(),
		Events: recorder,
		Index:  lookUp(map[resolver.CatalogID]*graph.Catalog{{Name: "community", Namespace: "olm"}: index}),
	}
	if _, err := e.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "operators", Name: "backup"}}); err != nil {
		t.Fatal(err)
	}
	close(recorder.Events)
	var out []string
	for event := range recorder.Events {
		out = append(out, event)
	}
	return out
}

func TestExplainer(t *testing.T) {
	etcd := subscription("etcd")
	etcd.Status.InstalledCSV = "etcd.v0.9.4"
	csv := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: "etcd.v0.9.4", Namespace: "operators",
		Annotations: map[string]string{"operatorframework.io/properties": `{"properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"0.9.4"}}]}`}}}
	if err := csv.Spec.Version.UnmarshalJSON([]byte(`"0.9.4"`)); err != nil {
		t.Fatal(err)
	}
	copied := &v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: "other.v1.0.0", Namespace: "operators",
		Labels: map[string]string{v1alpha1.CopiedLabelKey: "elsewhere"}}, Status: v1alpha1.ClusterServiceVersionStatus{Reason: v1alpha1.CSVReasonCopied}}

	t.Run("a conflict is explained", func(t *testing.T) {
		got := explain(t, subscription("backup"), etcd, csv, copied)
		if len(got) != 1 || !strings.Contains(got[0], "Warning ConstraintsNotSatisfiable subscription backup cannot be satisfied") ||
			!strings.Contains(got[0], "etcd.v0.9.4") || !strings.Contains(got[0], "possible fix") {
			t.Errorf("the events are %q", got)
		}
	})
	t.Run("a problem that has a solution by now", func(t *testing.T) {
		got := explain(t, subscription("backup"))
		if len(got) != 1 || !strings.Contains(got[0], "Normal Satisfiable") {
			t.Errorf("the events are %q", got)
		}
	})
	t.Run("a subscription that did not fail", func(t *testing.T) {
		fine := subscription("backup")
		fine.Status = v1alpha1.SubscriptionStatus{}
		if got := explain(t, fine); len(got) > 0 {
			t.Errorf("the events are %q", got)
		}
	})
	t.Run("a deleted subscription is not an error", func(t *testing.T) {
		if got := explain(t); len(got) > 0 {
			t.Errorf("the events are %q", got)
		}
	})
}

func TestNote(t *testing.T) {
	for _, text := range []string{"short\n", strings.Repeat("a line\n", 500), strings.Repeat("é", 2000)} {
		if got := note(text); len(got) > 1024 || len(text) < 1000 && got != text {
			t.Errorf("a note of %d bytes was truncated to %d: %q", len(text), len(got), got)
		}
	}
}

func TestLoad(t *testing.T) {
	indexes := map[resolver.CatalogID]*graph.Catalog{}
	if err := load(t.Context(), indexes, "community"); err == nil || !strings.Contains(err.Error(), "NAME/NAMESPACE=DIR") {
		t.Errorf("a catalog without a name: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(catalog), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := load(t.Context(), indexes, "a/b="+dir); err != nil {
		t.Fatal(err)
	}
	if _, err := lookUp(indexes)(t.Context(), resolver.CatalogID{Name: "a", Namespace: "b"}); err != nil {
		t.Error(err)
	}
	if _, err := lookUp(indexes)(t.Context(), resolver.CatalogID{Name: "a", Namespace: "c"}); err == nil {
		t.Error("there is no catalog a/c, and no error")
	}
}
