package content

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
)

// A Reconciler keeps the catalogs of a store as the CatalogSources of a cluster
// say, and the status of these as the catalogs are.
type Reconciler struct {
	Client client.Client
	Store  *Store
}

func newObject() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(olm.V1Alpha1, "CatalogSource"))
	return u
}

// SetupWithManager makes the reconciler run when a CatalogSource changes, and when
// it is time to read its catalog again.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(m).
		Named("olmkit-catalogsource").
		For(newObject(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Complete(r)
}

// Reconcile refreshes the catalog of a CatalogSource and writes its status.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	u := newObject()
	switch err := r.Client.Get(ctx, req.NamespacedName, u); {
	case apierrors.IsNotFound(err), err == nil && u.GetDeletionTimestamp() != nil:
		r.Store.Forget(resolver.CatalogID{Name: req.Name, Namespace: req.Namespace})
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, err
	}
	var c olm.CatalogSource
	text, err := u.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	if err != nil {
		// The API server checks the shape; whatever passes it will not change by
		// being read again.
		return reconcile.Result{}, reconcile.TerminalError(fmt.Errorf("CatalogSource %s: %w", req.NamespacedName, err))
	}
	h, err := r.Store.Refresh(ctx, &c)
	if err != nil {
		return reconcile.Result{}, err
	}
	if h.Apply(&c) {
		if err := r.write(ctx, u, &c); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	return reconcile.Result{RequeueAfter: h.Next}, nil
}

// write patches the status, unless another writer was there first.
func (r *Reconciler) write(ctx context.Context, u *unstructured.Unstructured, c *olm.CatalogSource) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	after := newObject()
	if err := after.UnmarshalJSON(text); err != nil {
		return err
	}
	return r.Client.Status().Patch(ctx, after, client.MergeFromWithOptions(u, client.MergeFromWithOptimisticLock{}))
}
