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

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// A Reconciler refreshes the catalogs of a store according to the
// CatalogSources of a cluster, and writes their statuses.
type Reconciler struct {
	// Client writes the statuses. CatalogSources are read from the manager's cache
	// after SetupWithManager, and otherwise with this client.
	Client client.Client
	Store  *Store
	// Owns, if not nil, reports whether this process currently writes the statuses
	// of CatalogSources in a namespace. Every shard reads all catalogs; if each
	// wrote the statuses, they would overwrite each other forever. A status that
	// it does not write is compared again every 20 seconds.
	Owns func(ctx context.Context, namespace string) bool
	// Changed, if not nil, receives each CatalogSource whose content or state
	// has changed. Pass the channel to kube.Reconciler.Catalogs. Sends block,
	// so the receiver must keep up.
	Changed chan<- event.GenericEvent
	// Concurrency is the number of catalogs to read at once. Default: 16.
	Concurrency int
	// Share is how many of these catalogs may be in one namespace other than the
	// global one. A quarter of Concurrency is reserved for the global namespace.
	// Default: 2.
	Share int

	cache client.Reader

	mu      sync.Mutex
	reading map[string]int // by namespace
	tenants int
	sent    map[resolver.CatalogID]string // the state last sent to Changed
}

func newObject() *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.FromAPIVersionAndKind(olm.V1Alpha1, "CatalogSource"))
	return u
}

// SetupWithManager registers the reconciler. It runs when a CatalogSource
// changes and when its catalog is due to be read again.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	r.cache = m.GetCache() // the manager's client does not cache unstructured objects
	return ctrl.NewControllerManagedBy(m).
		Named("olmkit-catalogsource").
		For(newObject(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: cmp.Or(r.Concurrency, 16),
			UsePriorityQueue:        new(false), // the queue may hang at shutdown; see kube.Reconciler
		}).
		Complete(r)
}

// Reconcile refreshes the catalog of a CatalogSource and writes its status.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	u, reader := newObject(), r.cache
	if reader == nil {
		reader = r.Client
	}
	switch err := reader.Get(ctx, req.NamespacedName, u); {
	case apierrors.IsNotFound(err), err == nil && u.GetDeletionTimestamp() != nil:
		id := resolver.CatalogID{Name: req.Name, Namespace: req.Namespace}
		r.Store.Forget(id)
		r.mu.Lock()
		delete(r.sent, id)
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
		// The API server has validated the CatalogSource, so reading it again
		// would not help.
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
	if err := r.notify(ctx, u, h); err != nil {
		return reconcile.Result{}, err
	}
	switch {
	case !h.Apply(&c):
	case r.Owns != nil && !r.Owns(ctx, req.Namespace):
		// Nothing reports when this process begins to write, such as after OLM was stopped.
		if h.Next == 0 || h.Next > ownsAgain {
			h.Next = ownsAgain
		}
	default:
		switch err := r.write(ctx, u, &c); {
		case apierrors.IsConflict(err): // the cache is behind
			return reconcile.Result{RequeueAfter: time.Second}, nil
		case err != nil:
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	return reconcile.Result{RequeueAfter: h.Next}, nil
}

// ownsAgain is how soon to check again whether to write a status.
const ownsAgain = 20 * time.Second

// begin reserves one of the concurrent reads. If a namespace has used up its
// share, its requests are requeued instead of blocking a worker.
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

// notify sends a catalog to Changed if its state or content has changed.
func (r *Reconciler) notify(ctx context.Context, u *unstructured.Unstructured, h Health) error {
	r.mu.Lock()
	was, known := r.sent[h.ID]
	if r.sent == nil {
		r.sent = map[resolver.CatalogID]string{}
	}
	r.sent[h.ID] = h.State
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

// write patches the status. It fails if another writer has changed the object.
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
