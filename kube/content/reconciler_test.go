package content_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/content"
)

// TestReconciler checks that the status of a CatalogSource is written when its
// catalog's state or content changes, and only then.
func TestReconciler(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	u := &unstructured.Unstructured{}
	text, err := json.Marshal(source(t, `{"sourceType":"grpc","address":"x:1"}`))
	if err == nil {
		err = u.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(u.Object, "status")
	clock := newClock()
	store := content.New(&content.Options{Sources: named(content.Dir(dir, nil)), Now: clock.now})
	c := fake.NewClientBuilder().WithObjects(u).WithStatusSubresource(u).Build()
	r := &content.Reconciler{Client: c, Store: store}
	key := types.NamespacedName{Name: "community", Namespace: "olm"}
	run := func() (string, time.Duration) {
		t.Helper()
		result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), key, u); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(u.Object["status"])
		if err != nil {
			t.Fatal(err)
		}
		return string(text), result.RequeueAfter
	}
	status, next := run()
	if !strings.Contains(status, `"lastConnect":"2026-11-21T12:00:00Z","lastObservedState":"READY"`) || next != 5*time.Minute {
		t.Errorf("%s, next %v", status, next)
	}
	version := u.GetResourceVersion()
	clock.advance(5 * time.Minute)
	if run(); u.GetResourceVersion() != version {
		t.Error("the status was written although nothing changed")
	}
	write(t, dir, catalog("2.0.0", true))
	clock.advance(5 * time.Minute)
	if status, _ := run(); !strings.Contains(status, `"lastConnect":"2026-11-21T12:10:00Z"`) {
		t.Errorf("the status does not show the new content: %s", status)
	}
	write(t, dir, "{")
	clock.advance(5 * time.Minute)
	if status, next := run(); !strings.Contains(status, "still using the content of ") || !strings.Contains(status, ": catalog.json:1") || next != 5*time.Second {
		t.Errorf("%s, next %v", status, next)
	}
	if err := c.Delete(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Error(err)
	}
	if got := head(t, store.View()); !strings.Contains(got, "not been read") {
		t.Errorf("after its CatalogSource was deleted: %s", got)
	}
}
