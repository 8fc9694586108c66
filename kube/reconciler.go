package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/olm"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"
)

// A Reconciler runs a reconcile.Loop in each namespace of its shard whenever
// something that its plan depends on changes. Its requests name namespaces.
//
//	cluster, err := kube.NewCluster(ctx, mgr.GetConfig(), kube.ClusterOptions{Cache: mgr.GetCache()})
//	r := &kube.Reconciler{Cluster: cluster, Content: content}
//	err = r.SetupWithManager(mgr)
type Reconciler struct {
	// Cluster must read from the cache of the manager.
	Cluster *Cluster
	Content reconcile.Content
	// Contents, if set, gives the content for one run, in the place of Content:
	// that of catalogs that are read again while the program runs. See package
	// content.
	Contents func() reconcile.Content
	// Options are those of the loops. Their RoleNaming must be that of the
	// cluster.
	Options reconcile.Options
	// Catalogs, if any, brings the CatalogSources whose catalogs have changed: see
	// content.Reconciler.Changed.
	Catalogs <-chan event.GenericEvent
	// Metrics, if any, is told what happens.
	Metrics reconcile.Metrics
	Shard   Shard
	// Concurrency is how many namespaces are worked on at once. Default: 4.
	Concurrency int
	// Retry is how long after a run that left something undone the namespace is
	// looked at again, whatever happens. Default: 20 seconds.
	Retry time.Duration
	// Resync is how often a namespace at rest is looked at again. Default: 15
	// minutes.
	Resync time.Duration

	recorder events.EventRecorder
}

var _ ctrlreconcile.Reconciler = (*Reconciler)(nil)

// maxPasses bounds a run. Somebody who undoes what the loop does must not keep
// other namespaces waiting.
const maxPasses = 100

// SetupWithManager adds the reconciler to a manager, with its watches, and a
// readiness check that holds once the cache is filled.
func (r *Reconciler) SetupWithManager(m manager.Manager) error {
	if err := r.Shard.Validate(); err != nil {
		return err
	}
	if _, ok := r.Cluster.source.(*cached); !ok {
		return errors.New("the cluster of a reconciler must read from a cache: set ClusterOptions.Cache to the manager's")
	}
	if r.recorder == nil {
		r.recorder = m.GetEventRecorder(FieldOwner)
	}
	c, err := controller.New(FieldOwner, m, controller.Options{
		Reconciler: r, MaxConcurrentReconciles: cmp.Or(r.Concurrency, 4),
		RateLimiter: newLimiter(),
		// The priority queue of controller-runtime 0.24 may hang when it is shut down
		// with items that are ready: it hands one to a worker that has left.
		UsePriorityQueue:   ptr(false),
		SkipNameValidation: ptr(true), // several shards may live in one process
	})
	if err != nil {
		return err
	}
	for _, k := range kinds() {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(k.gvk)
		if err := c.Watch(ctrlsource.Kind(m.GetCache(), client.Object(u), r.handlerFor(k))); err != nil {
			return fmt.Errorf("watching %s: %w", k.plural, err)
		}
	}
	if r.Catalogs != nil {
		if err := c.Watch(ctrlsource.Channel(r.Catalogs, r.handlerFor(kindCatalogSource))); err != nil {
			return fmt.Errorf("watching catalogs: %w", err)
		}
	}
	return m.AddReadyzCheck("cache", func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !m.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the cache is not filled yet")
		}
		return nil
	})
}

func ptr[T any](v T) *T { return &v }

// Reconcile brings the namespace that a request names to rest.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrlreconcile.Request) (ctrlreconcile.Result, error) {
	namespace := req.Name
	if !r.owns(ctx, namespace) {
		r.forget(namespace)
		return ctrlreconcile.Result{}, nil
	}
	last := &lastRead{Cluster: r.Cluster}
	content := r.Content
	if r.Contents != nil {
		content = r.Contents()
	}
	opts := r.Options
	opts.NoAdvice = true // nobody reads the notes
	loop := &reconcile.Loop{
		Cluster: last, Content: content, Options: opts, Metrics: r.metricsOf(namespace), MaxPasses: maxPasses,
		Events: func(e reconcile.Event) { r.event(last.snapshot, e) },
	}
	result, err := loop.Run(ctx, namespace)
	r.keep(last.snapshot)
	logger := log.FromContext(ctx)
	if result.Changes > 0 || result.Conflicts > 0 {
		logger.V(1).Info("ran", "passes", result.Passes, "changes", result.Changes, "conflicts", result.Conflicts)
	}
	retry := cmp.Or(r.Retry, 20*time.Second)
	switch {
	case err == nil && last.unsettled():
		return ctrlreconcile.Result{RequeueAfter: retry}, nil
	case err == nil:
		return ctrlreconcile.Result{RequeueAfter: cmp.Or(r.Resync, 15*time.Minute)}, nil
	case errors.Is(err, reconcile.ErrPending):
		return ctrlreconcile.Result{RequeueAfter: retry}, nil // who reads the catalog tells, normally
	case errors.Is(err, reconcile.ErrUnavailable), errors.Is(err, reconcile.ErrUnsettled), ctx.Err() != nil, last.snapshot == nil:
		return ctrlreconcile.Result{}, err // with a growing delay
	}
	// What was refused for good is in the statuses of what asked for it: to ask
	// again at once would change nothing.
	logger.Info("some changes were refused", "error", err.Error(), "again", retry.String())
	return ctrlreconcile.Result{RequeueAfter: retry}, nil
}

// lastRead remembers the last snapshot of a run.
type lastRead struct {
	*Cluster
	snapshot *reconcile.Snapshot
}

// Read returns the state of the cluster for a namespace.
func (l *lastRead) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	s, err := l.Cluster.Read(ctx, namespace)
	if err == nil {
		l.snapshot = s
	}
	return s, err
}

// unsettled reports whether time alone may change the plan: something is being
// installed, or is tried again.
func (l *lastRead) unsettled() bool {
	for _, c := range l.snapshot.CSVs {
		if c.Metadata.Namespace == l.snapshot.Namespace && !c.IsCopied() && c.Status.Phase != olm.PhaseSucceeded {
			return true
		}
	}
	for _, p := range l.snapshot.InstallPlans {
		if p.Status.Phase == olm.PlanInstalling {
			return true
		}
	}
	return false
}

// event tells the users of an object.
func (r *Reconciler) event(s *reconcile.Snapshot, e reconcile.Event) {
	if r.recorder == nil {
		return
	}
	u := &unstructured.Unstructured{}
	k, ok := findKind(e.Object.Group, e.Object.Kind)
	if !ok || s == nil {
		return // users look at none but OLM's own
	}
	u.SetGroupVersionKind(k.gvk)
	u.SetNamespace(e.Object.Namespace)
	u.SetName(e.Object.Name)
	u.SetUID(uidOf(s, e.Object))
	r.recorder.Eventf(u, nil, string(e.Type), e.Reason, "Reconcile", "%s", limit(e.Message))
}

// limit returns a message as an event shows it (S8), shortened to what it may hold.
func limit(text string) string {
	const most = 1024
	text = visible.Lines(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "..."
}

// uidOf returns the uid of an object of a snapshot; empty for one that has just
// been created.
func uidOf(s *reconcile.Snapshot, k olm.Key) types.UID {
	var list []olm.Resource
	for _, x := range s.CSVs {
		list = append(list, x)
	}
	for _, x := range s.InstallPlans {
		list = append(list, x)
	}
	for _, x := range s.Subscriptions {
		list = append(list, x)
	}
	for _, r := range list {
		if r.Head().Key() == k {
			return types.UID(r.Head().Metadata.UID)
		}
	}
	return ""
}
