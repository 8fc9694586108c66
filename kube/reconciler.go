package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

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

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A Reconciler runs a reconcile.Loop in each namespace of its shard when something that
// the namespace's plan depends on changes. The name in a request is that of a namespace.
//
//	cluster, err := kube.NewCluster(ctx, mgr.GetConfig(), kube.ClusterOptions{Cache: mgr.GetCache()})
//	r := &kube.Reconciler{Cluster: cluster, Content: content}
//	err = r.SetupWithManager(mgr)
type Reconciler struct {
	// Cluster must use the manager's cache.
	Cluster *Cluster
	Content reconcile.Content
	// Contents, if not nil, returns the content for a run and replaces Content.
	// Use it if catalogs change while the program runs; see package content.
	Contents func() reconcile.Content
	// Options configure the loops. RoleNaming must equal that of the Cluster.
	// CheckResources is by default crd.Check, and DeploymentHashes is by default
	// olmhash.Deployment.
	Options reconcile.Options
	// Catalogs, if not nil, delivers the CatalogSources whose catalogs have
	// changed; see content.Reconciler.Changed.
	Catalogs <-chan event.GenericEvent
	// Metrics, if not nil, receives metrics of each run.
	Metrics reconcile.Metrics
	Shard   Shard
	// Concurrency is the number of namespaces to reconcile at once. Default: 4.
	Concurrency int
	// Retry is the delay before a namespace is reconciled again after a run
	// that left work undone. Default: 20 seconds.
	Retry time.Duration
	// Resync is how often to reconcile a namespace in which nothing changes.
	// Default: 15 minutes.
	Resync time.Duration

	recorder events.EventRecorder

	mu     sync.Mutex
	paused bool // OLM was seen to run, and that was reported
}

var _ ctrlreconcile.Reconciler = (*Reconciler)(nil)

// maxPasses limits a run, so that another writer that undoes every change
// cannot block other namespaces.
const maxPasses = 100

// SetupWithManager registers the reconciler, its watches, a controller that writes the status
// of the OLMConfig, and a readiness check that succeeds once the cache has synced.
func (r *Reconciler) SetupWithManager(m manager.Manager) error {
	if err := r.Shard.Validate(); err != nil {
		return err
	}
	if _, ok := r.Cluster.source.(*cached); !ok {
		return errors.New("the Cluster of a Reconciler must have a cache; set ClusterOptions.Cache to the manager's cache")
	}
	if r.recorder == nil {
		r.recorder = m.GetEventRecorder(FieldOwner)
	}
	c, err := controller.New(FieldOwner, m, controller.Options{
		Reconciler: r, MaxConcurrentReconciles: cmp.Or(r.Concurrency, 4),
		RateLimiter: newLimiter(),
		// The priority queue of controller-runtime 0.24 may hang on shutdown if
		// items are ready: it hands one to a worker that has exited.
		UsePriorityQueue:   ptr(false),
		SkipNameValidation: ptr(true), // one process may run several shards
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
	if err := (configStatus{r}).setup(m); err != nil {
		return fmt.Errorf("watching OLMConfigs: %w", err)
	}
	return m.AddReadyzCheck("cache", func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !m.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the cache has not synced yet")
		}
		return nil
	})
}

func ptr[T any](v T) *T { return &v }

// Reconcile runs the loop in the namespace that a request names.
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
	opts.NoAdvice = true // the notes are not used
	if opts.CheckResources == nil {
		opts.CheckResources = crd.Check
	}
	if opts.DeploymentHashes == nil {
		opts.DeploymentHashes = olmhash.Deployment
	}
	loop := &reconcile.Loop{
		Cluster: last, Content: content, Options: opts, Metrics: r.metricsOf(namespace), MaxPasses: maxPasses,
		Events: func(e reconcile.Event) { r.event(last.snapshot, e) },
	}
	result, err := loop.Run(ctx, namespace)
	r.keep(last.snapshot)
	r.report(ctx, result.Plan)
	logger := log.FromContext(ctx)
	if result.Changes > 0 || result.Conflicts > 0 {
		logger.V(1).Info("ran", "passes", result.Passes, "changes", result.Changes, "conflicts", result.Conflicts)
	}
	retry := r.retry()
	switch {
	case err == nil && len(result.Plan.Paused) > 0:
		wait := cmp.Or(r.Resync, 15*time.Minute) // a change to OLM's deployments triggers a run earlier
		if due := result.Plan.Due; !due.IsZero() {
			wait = min(wait, max(due.Sub(r.Cluster.opts.Now()), time.Second))
		}
		return ctrlreconcile.Result{RequeueAfter: wait}, nil
	case err == nil && last.unsettled():
		return ctrlreconcile.Result{RequeueAfter: retry}, nil
	case err == nil:
		return ctrlreconcile.Result{RequeueAfter: cmp.Or(r.Resync, 15*time.Minute)}, nil
	case errors.Is(err, reconcile.ErrPending):
		return ctrlreconcile.Result{RequeueAfter: retry}, nil // usually an event from Catalogs triggers a run earlier
	case errors.Is(err, reconcile.ErrUnavailable), errors.Is(err, reconcile.ErrUnsettled), ctx.Err() != nil, last.snapshot == nil:
		return ctrlreconcile.Result{}, err // with a growing delay
	}
	// Permanent errors are in the statuses of the objects that caused them.
	// Retrying at once would not help.
	logger.Info("some changes were rejected", "error", err.Error(), "retry", retry.String())
	return ctrlreconcile.Result{RequeueAfter: retry}, nil
}

func (r *Reconciler) retry() time.Duration { return cmp.Or(r.Retry, 20*time.Second) }

// lastRead keeps the last snapshot of a run.
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

// unsettled reports whether the plan may change as time passes, because an
// installation is in progress or will be retried.
func (l *lastRead) unsettled() bool {
	for _, c := range l.snapshot.CSVs {
		if c.Metadata.Namespace == l.snapshot.Namespace && !olm.IsCopied(c) && c.Status.Phase != olm.PhaseSucceeded {
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

// event records an event for an object.
func (r *Reconciler) event(s *reconcile.Snapshot, e reconcile.Event) {
	if r.recorder == nil {
		return
	}
	u := &unstructured.Unstructured{}
	k, ok := findKind(e.Object.Group, e.Object.Kind)
	if !ok || s == nil {
		return // only OLM's own objects have events
	}
	u.SetGroupVersionKind(k.gvk)
	u.SetNamespace(e.Object.Namespace)
	u.SetName(e.Object.Name)
	if m := metadataOf(s, e.Object); m != nil {
		u.SetUID(types.UID(m.UID))
		// A recorder combines events that differ only in their message. To have them
		// recorded separately, set the version of the object, which differs (E19).
		u.SetResourceVersion(m.ResourceVersion)
	}
	r.recorder.Eventf(u, nil, e.Type, e.Reason, "Reconcile", "%s", limit(e.Message))
}

// limit returns a message for an event (S8), truncated to the maximum length.
func limit(text string) string {
	const most = 1024
	text = visible.Lines(text)
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-3], "") + "..."
}

// metadataOf returns the metadata of an object in a snapshot, or nil if it has just been
// created.
func metadataOf(s *reconcile.Snapshot, k olm.Key) *olm.Metadata {
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
			return &r.Head().Metadata
		}
	}
	return nil
}
