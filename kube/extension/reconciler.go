package extension

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// An Installer installs the bundles that a Reconciler selects. It must be safe for
// concurrent use.
type Installer interface {
	// Installed returns the bundle that is installed for an extension, or nil.
	// It must observe the cluster, not rely on the extension's status.
	Installed(ctx context.Context, e *api.ClusterExtension) (*api.BundleMetadata, error)
	// Install installs the selected bundle. It is called at every
	// reconciliation, even if the bundle is already installed. A nil error
	// means that the bundle is installed. Return a reconcile.TerminalError if
	// only a person can fix the problem.
	Install(ctx context.Context, e *api.ClusterExtension, s *olmv1.Selection) error
}

// A Reconciler selects bundles for ClusterExtensions and writes their status.
// It writes nothing else. Extensions being deleted are left to their
// finalizers.
type Reconciler struct {
	Client client.Client
	// Catalogs opens the catalogs that take part in a selection.
	Catalogs desired.Opener
	// Installer, if not nil, installs the selected bundle. If nil, the
	// installed bundle is taken from the status.
	Installer Installer
	// Rollouts, if not nil, installs the selected bundle as revisions, in place of
	// an Installer.
	Rollouts *Rollouts
	// Options are the options of the selection.
	Options olmv1.Options
	// Now returns the current time. Default: time.Now.
	Now func() time.Time
}

// SetupWithManager registers the reconciler. It runs when an extension or a
// catalog that it selects changes.
func (r *Reconciler) SetupWithManager(m ctrl.Manager) error {
	c, err := ctrl.NewControllerManagedBy(m).
		Named("olmkit-clusterextension").
		// Ignore changes to the status.
		For(&api.ClusterExtension{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&api.ClusterCatalog{}, handler.EnqueueRequestsFromMapFunc(r.extensionsOf)).
		WithOptions(concurrent).
		Build(r)
	if err != nil || r.Rollouts == nil {
		return err
	}
	return r.watchRollouts(m, c)
}

// options are those of all controllers of this package.
var options = controller.Options{UsePriorityQueue: new(false)} // the queue may hang at shutdown; see kube.Reconciler

// concurrent are those of the controller of extensions, which waits for registries. No extension is
// reconciled twice at the same time.
var concurrent = controller.Options{UsePriorityQueue: options.UsePriorityQueue, MaxConcurrentReconciles: workers}

// workers is how many extensions are reconciled at the same time.
const workers = 10

// extensionsOf returns the extensions that select a catalog.
func (r *Reconciler) extensionsOf(ctx context.Context, catalog client.Object) []reconcile.Request {
	var list api.ClusterExtensionList
	if r.Client.List(ctx, &list) != nil {
		return nil // the cache has not synced; all extensions will be reconciled when it has
	}
	var out []reconcile.Request
	for i := range list.Items {
		e := &list.Items[i]
		if f := e.Spec.Source.Catalog; f != nil {
			if s := desired.Selector(f.Selector); s.Validate() == nil && !s.Matches(catalog.GetLabels()) {
				continue
			}
		}
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: e.Name}})
	}
	return out
}

// Reconcile selects a bundle for an extension, installs it if there is an
// Installer, and writes the status.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var e api.ClusterExtension
	if err := r.Client.Get(ctx, req.NamespacedName, &e); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if r.Rollouts != nil {
		return r.roll(ctx, &e)
	}
	if e.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}
	o, err := r.outcome(ctx, &e)
	if err != nil {
		return reconcile.Result{}, err
	}
	if err := r.report(ctx, &e, o); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, retry(o)
}

// now returns the current time, in the precision of the API.
func (r *Reconciler) now() time.Time {
	now := time.Now
	if r.Now != nil {
		now = r.Now
	}
	return now().Truncate(time.Second)
}

// report writes the status of an extension.
func (r *Reconciler) report(ctx context.Context, e *api.ClusterExtension, o Outcome) error {
	status := Status(e, o, metav1.NewTime(r.now()))
	if equality.Semantic.DeepEqual(status, e.Status) {
		return nil
	}
	// Patch, to preserve unknown fields, and lock, to avoid overwriting
	// another writer.
	before := e.DeepCopy()
	e.Status = status
	return client.IgnoreNotFound(r.Client.Status().Patch(ctx, e, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// retry returns the error if it is worth retrying soon. A refusal stands until
// a catalog or the extension changes.
func retry(o Outcome) error {
	var refusal *olmv1.Refusal
	err := o.err()
	if err == nil || terminal(err) || errors.As(err, &refusal) {
		return nil
	}
	return err
}

// outcome selects a bundle and, if there is an Installer, installs it.
func (r *Reconciler) outcome(ctx context.Context, e *api.ClusterExtension) (Outcome, error) {
	var o Outcome
	if r.Installer != nil {
		if o.Installed, o.InstalledErr = r.Installer.Installed(ctx, e); o.InstalledErr != nil {
			// Do not touch the installation until its state is known.
			o.Installed = nil
			return o, cause(ctx)
		}
	} else if s := e.Status.Install; s != nil {
		b := s.Bundle
		o.Installed = &b
	}
	var err error
	if o.Decision, err = r.decide(ctx, e, o.Installed); err != nil {
		return o, err
	}
	b := o.Decision.Bundle()
	switch {
	case b == nil:
	case r.Installer == nil:
		if o.Installed == nil || *o.Installed != *b {
			o.InstallErr = ErrNoInstaller
		}
	default:
		if o.InstallErr = r.Installer.Install(ctx, e, o.Decision.Selection); o.InstallErr == nil {
			o.Installed = b
		}
	}
	return o, cause(ctx)
}

// decide selects a bundle from the catalogs on the cluster.
func (r *Reconciler) decide(ctx context.Context, e *api.ClusterExtension, installed *api.BundleMetadata) (*desired.Decision, error) {
	var catalogs api.ClusterCatalogList
	if err := r.Client.List(ctx, &catalogs); err != nil {
		return nil, err
	}
	if c, ok := r.Catalogs.(interface{ Retain(map[string]bool) }); ok {
		names := map[string]bool{}
		for i := range catalogs.Items {
			names[catalogs.Items[i].Name] = true
		}
		c.Retain(names)
	}
	return desired.Decide(ctx, e, installed, catalogs.Items, r.Catalogs, &r.Options)
}

func cause(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
