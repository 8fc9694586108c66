package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// An Explainer watches subscriptions. When OLM finds no solution, it records an event that
// explains why, and what would help. It writes nothing else.
type Explainer struct {
	Client client.Client
	Events events.EventRecorder
	// GlobalNamespace is the namespace whose catalogs are visible in every
	// namespace. Default: olm.
	GlobalNamespace string
	// Index returns the content of a catalog, from catalogd, an image or a
	// file. All namespaces share it.
	Index func(ctx context.Context, source resolver.CatalogID) (*graph.Catalog, error)
}

// SetupWithManager registers the explainer with a manager.
func (e *Explainer) SetupWithManager(mgr manager.Manager) error {
	return builder.ControllerManagedBy(mgr).
		Named("explainer").
		For(&v1alpha1.Subscription{}, builder.WithPredicates(predicate.NewPredicateFuncs(failed))).
		Complete(e)
}

// failed reports whether OLM found no solution for a subscription.
func failed(o client.Object) bool {
	sub, ok := o.(*v1alpha1.Subscription)
	return ok && sub.Status.GetCondition(v1alpha1.SubscriptionResolutionFailed).Status == corev1.ConditionTrue
}

// Reconcile explains one subscription.
func (e *Explainer) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var sub v1alpha1.Subscription
	if err := e.Client.Get(ctx, req.NamespacedName, &sub); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !failed(&sub) {
		return ctrl.Result{}, nil
	}
	problem, err := e.problem(ctx, req.Namespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	_, err = resolver.Resolve(ctx, *problem)
	var conflict *resolver.Conflict
	switch {
	case errors.As(err, &conflict):
		text, err := conflict.Text(ctx, 100, nil)
		if err != nil {
			return ctrl.Result{}, err
		}
		e.Events.Eventf(&sub, nil, corev1.EventTypeWarning, "ConstraintsNotSatisfiable", "Explain", "%s", note(text))
	case err != nil:
		return ctrl.Result{}, err
	default:
		e.Events.Eventf(&sub, nil, corev1.EventTypeNormal, "Satisfiable", "Explain",
			"the current catalogs have a solution; OLM will find it on its next attempt")
	}
	return ctrl.Result{}, nil
}

// note truncates a text at the end of a line, to the maximum length of an
// event's note.
func note(text string) string {
	const most = 1024 - len("…")
	if len(text) <= most {
		return text
	}
	return text[:strings.LastIndexByte(text[:most], '\n')+1] + "…"
}

// problem returns the resolution problem of a namespace, as OLM sees it.
func (e *Explainer) problem(ctx context.Context, namespace string) (*resolver.Problem, error) {
	p := &resolver.Problem{Namespace: namespace, GlobalNamespace: e.GlobalNamespace}
	var sources v1alpha1.CatalogSourceList
	if err := e.Client.List(ctx, &sources); err != nil {
		return nil, err
	}
	for _, s := range sources.Items {
		c := resolver.Catalog{Name: s.Name, Namespace: s.Namespace, Priority: s.Spec.Priority}
		var err error
		if c.Graph, err = e.Index(ctx, c.ID()); err != nil {
			c.Unhealthy = err.Error()
		}
		p.Catalogs = append(p.Catalogs, c)
	}
	var subs v1alpha1.SubscriptionList
	if err := e.Client.List(ctx, &subs, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	owners := make([]*olm.Subscription, len(subs.Items))
	for i, s := range subs.Items {
		var err error
		if owners[i], err = kube.FromTyped[olm.Subscription](e.Client.Scheme(), &s); err != nil {
			return nil, err
		}
		p.Subscriptions = append(p.Subscriptions, resolver.Subscription{
			Name:             s.Name,
			Package:          s.Spec.Package,
			Channel:          s.Spec.Channel,
			Catalog:          s.Spec.CatalogSource,
			CatalogNamespace: s.Spec.CatalogSourceNamespace,
			StartingCSV:      s.Spec.StartingCSV,
			InstalledCSV:     s.Status.InstalledCSV,
		})
	}
	var csvs v1alpha1.ClusterServiceVersionList
	if err := e.Client.List(ctx, &csvs, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for i := range csvs.Items {
		if csvs.Items[i].IsCopied() {
			continue
		}
		csv, err := kube.FromTyped[olm.ClusterServiceVersion](e.Client.Scheme(), &csvs.Items[i])
		if err != nil {
			return nil, err
		}
		in, faults := reconcile.Installed(csv, owners)
		if err := errors.Join(faults...); err != nil {
			return nil, fmt.Errorf("%s: %w", csv.Key(), err)
		}
		p.Installed = append(p.Installed, in)
	}
	return p, nil
}
