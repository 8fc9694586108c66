package content

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
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
	// Owns, if any, reports whether the statuses of the CatalogSources of a
	// namespace are this process's to write. Every shard reads all catalogs; were
	// each to write, they would take turns for ever.
	Owns func(ctx context.Context, namespace string) bool
	// Changed, if any, receives the CatalogSources whose catalogs have other
	// content than before, or another state: kube.Reconciler.Catalogs. It should
	// not be full for long.
	Changed chan<- event.GenericEvent
	// Concurrency is how many catalogs are read at once. Default: 16.
	Concurrency int
	// Share is how many of them may be of one namespace, other than the global
	// one. All such namespaces together leave a quarter of Concurrency to that one.
	// Default: 2.
	Share int

	mu      sync.Mutex
	reading map[string]int // by namespace
	tenants int
	told    map[resolver.CatalogID]string
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
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cmp.Or(r.Concurrency, 16),
			UsePriorityQueue:        new(false), // it may hang at the end: see kube.Reconciler
		}).
		Complete(r)
}

// Reconcile refreshes the catalog of a CatalogSource and writes its status.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	u := newObject()
	switch err := r.Client.Get(ctx, req.NamespacedName, u); {
	case apierrors.IsNotFound(err), err == nil && u.GetDeletionTimestamp() != nil:
		id := resolver.CatalogID{Name: req.Name, Namespace: req.Namespace}
		r.Store.Forget(id)
		r.mu.Lock()
		delete(r.told, id)
		r.mu.Unlock()
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
	done, ok := r.begin(req.Namespace)
	if !ok {
		r.Store.Wait(idOf(&c))
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	h, err := r.Store.Refresh(ctx, &c)
	done()
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.tell(ctx, u, h); err != nil {
		return reconcile.Result{}, err
	}
	if (r.Owns == nil || r.Owns(ctx, req.Namespace)) && h.Apply(&c) {
		if err := r.write(ctx, u, &c); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	return reconcile.Result{RequeueAfter: h.Next}, nil
}

// begin takes a place among those who read catalogs. Those of a namespace that
// has its share come again, rather than wait where others could work.
func (r *Reconciler) begin(namespace string) (done func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	tenant := 0
	if r.Store.opts.Sources.isTenant(namespace) {
		most := cmp.Or(r.Concurrency, 16)
		if r.reading[namespace] >= cmp.Or(r.Share, 2) || r.tenants >= max(most-max(most/4, 1), 1) {
			return nil, false
		}
		tenant = 1
	}
	if r.reading == nil {
		r.reading = map[string]int{}
	}
	r.reading[namespace]++
	r.tenants += tenant
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tenants -= tenant
		if r.reading[namespace]--; r.reading[namespace] == 0 {
			delete(r.reading, namespace)
		}
	}, true
}

// tell tells of a catalog that is not as it was when it was told of last.
func (r *Reconciler) tell(ctx context.Context, u *unstructured.Unstructured, h Health) error {
	r.mu.Lock()
	was, known := r.told[h.ID]
	if r.told == nil {
		r.told = map[resolver.CatalogID]string{}
	}
	r.told[h.ID] = h.State
	r.mu.Unlock()
	if r.Changed == nil || known && was == h.State && !h.Changed {
		return nil
	}
	select {
	case r.Changed <- event.GenericEvent{Object: u.DeepCopy()}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
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
