package reconcile_test

import (
	"errors"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// An object that is already being deleted, and held by a finalizer, is not deleted again in
// every pass: the loop settles and waits.
func TestDeletedOnce(t *testing.T) {
	rests := func(t *testing.T, w *world) {
		t.Helper()
		if r, err := w.loop().Run(t.Context(), testNamespace); errors.Is(err, reconcile.ErrUnsettled) || r.Passes > 50 {
			t.Errorf("%d passes, error %v", r.Passes, err)
		}
	}
	hold := func(t *testing.T, w *world, o olm.Object) {
		t.Helper()
		o.Metadata.Finalizers = []string{"example.com/held"}
		w.put(t, &o)
	}
	t.Run("an install plan that a later one takes the place of", func(t *testing.T) {
		w := worldOf(t, "failed-is-not-replaced")
		w.refused["Subscription example"] = true
		rests(t, w)
		for _, o := range w.List() {
			if o.Kind == olm.KindInstallPlan {
				hold(t, w, o)
			}
		}
		w.catalog(t, "olm/community", "new.yaml")
		rests(t, w)
	})
	t.Run("a deployment of an operator in conflict", func(t *testing.T) {
		w := worldOf(t, "drift")
		undisturbed(t, w)
		d, err := w.Get(key("Deployment", "ops/example"))
		if err != nil {
			t.Fatal(err)
		}
		hold(t, w, d)
		w.existing(t, `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: rival, namespace: other, annotations: {olm.providedAPIs: Example.v1.example.com}}, spec: {staticProvidedAPIs: true, targetNamespaces: [ops]}, status: {namespaces: [ops]}}`)
		g := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/global")
		g.Metadata.Annotations = nil
		w.put(t, g)
		rests(t, w)
		if d, err := w.Get(key("Deployment", "ops/example")); err != nil || !d.Metadata.IsDeleted() {
			t.Errorf("the deployment was not deleted: %v", err)
		}
	})
}
