package kube

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

type queue = workqueue.TypedRateLimitingInterface[ctrlreconcile.Request]

// handlerFor returns the handler that maps events of a kind to namespaces. An
// event caused by this process's own write for a namespace does not trigger
// that namespace, whose loop has already taken it into account.
func (r *Reconciler) handlerFor(k kind) handler.EventHandler {
	enqueue := func(ctx context.Context, o client.Object, q queue, namespaces []string) {
		slices.Sort(namespaces)
		for _, ns := range slices.Compact(namespaces) {
			if ns == "" {
				continue
			}
			if !r.owns(ctx, ns) {
				r.forget(ns) // its labels may have moved it to another shard
				continue
			}
			if o != nil && (r.Cluster.recent.isOwn(o.GetUID(), o.GetResourceVersion(), ns) || !r.isInhabited(ctx, k, o, ns)) {
				continue
			}
			q.Add(ctrlreconcile.Request{NamespacedName: types.NamespacedName{Name: ns}})
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			enqueue(ctx, e.Object, q, r.concerns(ctx, k, e.Object))
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			r.Cluster.watchOLM(e.ObjectOld, e.ObjectNew)
			if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() || !matters(k, e.ObjectOld, e.ObjectNew) {
				return
			}
			enqueue(ctx, e.ObjectNew, q, append(r.concerns(ctx, k, e.ObjectOld), r.concerns(ctx, k, e.ObjectNew)...))
		},
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) {
			enqueue(ctx, nil, q, r.concerns(ctx, k, e.Object))
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			namespaces := append(r.concerns(ctx, k, e.Object), r.heirs(k, e.Object)...)
			r.Cluster.recent.forget(e.Object.GetUID())
			enqueue(ctx, nil, q, namespaces)
		},
	}
}

// matters reports whether an update can change a plan. For a Namespace object, only
// labels and deletion matter; its annotations and status change often. A CRD gains a
// label from each namespace whose operators own it (E30), which does not concern the
// others. The status of an OLMConfig has no effect.
func matters(k kind, old, new client.Object) bool {
	switch k.group() {
	case kindNamespace.group():
		return !equalMaps(old.GetLabels(), new.GetLabels()) || old.GetDeletionTimestamp() == nil && new.GetDeletionTimestamp() != nil
	case kindCRD.group():
		return !addsOnlyComponents(old, new)
	case kindOLMConfig.group():
		return old.GetGeneration() != new.GetGeneration()
	}
	return true
}

// addsOnlyComponents reports whether an update adds labels of components and changes
// nothing else.
func addsOnlyComponents(old, new client.Object) bool {
	had, has := old.GetLabels(), new.GetLabels()
	if len(has) <= len(had) {
		return false
	}
	for l, v := range had {
		if w, ok := has[l]; !ok || v != w {
			return false
		}
	}
	for l := range has {
		if _, ok := had[l]; !ok && !strings.HasPrefix(l, olm.LabelComponent) {
			return false
		}
	}
	was, err := unpacked(old)
	if err != nil {
		return false
	}
	is, err := unpacked(new)
	if err != nil {
		return false
	}
	was, is = shallow(was), shallow(is)
	is.SetLabels(had)
	for _, u := range []*unstructured.Unstructured{was, is} {
		u.SetManagedFields(nil)
		u.SetResourceVersion("")
	}
	return reflect.DeepEqual(was, is)
}

// shallow returns a copy of an object whose metadata can be changed.
func shallow(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
	if m, ok := out.Object["metadata"].(map[string]any); ok {
		out.Object["metadata"] = maps.Clone(m)
	}
	return out
}

// isInhabited reports whether an object can affect the plan of a namespace:
// OLM's own objects, objects generated for the namespace, and any object in a
// namespace where OLM has something to manage. Most objects of a cluster
// cannot.
func (r *Reconciler) isInhabited(ctx context.Context, k kind, o client.Object, namespace string) bool {
	if k.gvk.Group == olm.Group || o.GetLabels()[ownerlabel.Namespace] == namespace {
		return true
	}
	for _, k := range []kind{kindOperatorGroup, kindSubscription, kindCSV, kindInstallPlan} {
		names, err := r.Cluster.source.names(ctx, k, selection{namespace: namespace})
		if err != nil || len(names) > 0 {
			return true
		}
	}
	return false
}

func equalMaps(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

// concerns returns the namespaces whose plans depend on an object.
func (r *Reconciler) concerns(ctx context.Context, k kind, o client.Object) []string {
	key := olm.Key{Group: k.gvk.Group, Kind: k.gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
	out := []string{key.Namespace, o.GetLabels()[ownerlabel.Namespace]}
	out = append(out, r.Cluster.wants.in(key)...)
	switch k.group() {
	case kindCSV.group():
		out = append(out, o.GetLabels()[olm.LabelCopiedFrom])
	case kindCRD.group():
		out = append(out, components(o)...)
	case kindOperator.group():
		out = append(out, indexed(byOwner, o)...)
	case kindClusterRoleBinding.group():
		out = append(out, indexed(bySubject, o)...)
	case kindOperatorGroup.group():
		out = append(out, r.neighbors(ctx, o)...)
	case kindNamespace.group():
		out = append(out, key.Name)
		out = append(out, r.selecting(ctx)...)
	case kindCatalogSource.group():
		if key.Namespace == r.Cluster.opts.GlobalNamespace {
			out = append(out, r.namespacesWith(ctx, kindSubscription)...)
		}
	case kindOLMConfig.group():
		out = append(out, r.namespacesWith(ctx, kindCSV)...)
	case kindDeployment.group():
		if reconcile.IsOLMName(key.Name) { // while OLM ran, nothing was written in any namespace
			for _, k := range []kind{kindOperatorGroup, kindSubscription, kindCSV, kindInstallPlan} {
				out = append(out, r.namespacesWith(ctx, k)...)
			}
		}
	}
	return out
}

// heirs returns the namespaces that may take over the objects generated for a
// deleted CSV: the namespaces that use the CSV's CRDs.
func (r *Reconciler) heirs(k kind, o client.Object) []string {
	if k.group() != kindCSV.group() {
		return nil
	}
	u, err := unpacked(o)
	if err != nil {
		return nil
	}
	var out []string
	owned, _, _ := unstructured.NestedSlice(u.Object, "spec", "customresourcedefinitions", "owned")
	for _, x := range owned {
		if d, ok := x.(map[string]any); ok {
			if name, ok := d["name"].(string); ok {
				out = append(out, r.Cluster.wants.in(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: name})...)
			}
		}
	}
	return out
}

// namespacesWith returns the namespaces that have objects of a kind.
func (r *Reconciler) namespacesWith(ctx context.Context, k kind) []string {
	return r.namespacesOf(ctx, k, selection{})
}

func (r *Reconciler) namespacesOf(ctx context.Context, k kind, s selection) []string {
	names, err := r.Cluster.source.names(ctx, k, s)
	if err != nil {
		return nil // the context ended
	}
	var out []string
	for _, n := range names {
		out = append(out, n.Namespace)
	}
	return slices.Compact(out)
}

// groups returns all operator groups.
func (r *Reconciler) groups(ctx context.Context) []*olm.OperatorGroup {
	entries, err := r.Cluster.source.list(ctx, kindOperatorGroup, selection{})
	if err != nil {
		return nil // the context ended
	}
	var out []*olm.OperatorGroup
	for _, e := range entries {
		if g, ok := e.value.(*olm.OperatorGroup); ok {
			out = append(out, g)
		}
	}
	return out
}

// neighbors returns the namespaces of the operator groups that share a target
// namespace with this one. Such groups may provide the same APIs (F6).
func (r *Reconciler) neighbors(ctx context.Context, o client.Object) []string {
	targets := indexed(byTarget, o)
	if slices.Contains(targets, "") {
		return r.namespacesWith(ctx, kindOperatorGroup)
	}
	var out []string
	for _, target := range append(targets, "") {
		out = append(out, r.namespacesOf(ctx, kindOperatorGroup, selection{index: byTarget, value: target})...)
	}
	return out
}

// selecting returns the namespaces of the operator groups without a fixed list of
// target namespaces.
func (r *Reconciler) selecting(ctx context.Context) []string {
	var out []string
	for _, g := range r.groups(ctx) {
		if len(g.Spec.TargetNamespaces) == 0 {
			out = append(out, g.Metadata.Namespace)
		}
	}
	return out
}

// Owns reports whether a namespace belongs to the shard, according to its
// labels in the cache. For a namespace that does not exist, only its name
// counts.
func (r *Reconciler) Owns(ctx context.Context, namespace string) bool { return r.owns(ctx, namespace) }

// owns reports whether a namespace belongs to the shard. A deleted namespace
// does too, so that the objects generated for it are deleted.
func (r *Reconciler) owns(ctx context.Context, namespace string) bool {
	v, err := r.Cluster.source.get(ctx, kindNamespace, "", namespace)
	ns, ok := v.(*olm.Namespace)
	if err != nil || !ok {
		s := r.Shard
		s.Selector = nil
		return s.Owns(namespace, nil)
	}
	return r.Shard.Owns(namespace, ns.Metadata.Labels)
}
