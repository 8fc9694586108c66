package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A source provides the objects of snapshots: the API server, or a cache
// overlaid with recent writes.
type source interface {
	// list returns the objects of a kind in a selection, sorted by namespace
	// and name.
	list(ctx context.Context, k kind, s selection) ([]entry, error)
	// names returns the names of the objects of a kind in a selection, in the same order.
	names(ctx context.Context, k kind, s selection) ([]types.NamespacedName, error)
	// get returns an object, or nil.
	get(ctx context.Context, k kind, namespace, name string) (olm.Resource, error)
}

// An entry is an object with its sort key. err is set if it cannot be decoded;
// other objects are not affected.
type entry struct {
	namespace, name string
	value           olm.Resource
	err             error
}

func compareEntries(a, b entry) int {
	return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
}

// A selection selects the objects of a namespace or the objects with a value in an
// index. The zero selection selects all objects.
type selection struct{ namespace, index, value string }

// The names of the indexes. A cache maintains these indexes; without a cache, objects
// are filtered instead.
const (
	// byOwner selects the objects generated for owners in a namespace, and its Operators.
	byOwner = "olmkit/owner-namespace"
	// bySubject selects the bindings for service accounts in a namespace.
	bySubject = "olmkit/subject-namespace"
	// byOriginal selects the copies of a namespace's CSVs, or, for an empty
	// value, the CSVs that are not copies.
	byOriginal = "olmkit/copied-from"
	// byCopy selects the copies of CSVs with a name.
	byCopy = "olmkit/copy"
	// byTarget selects the operator groups that target a namespace.
	byTarget = "olmkit/target"
	// byOLM selects the deployments that have the names of OLM's controllers.
	byOLM = "olmkit/olm"
)

// indexValues returns the values of an object in an index.
func indexValues(index string, o client.Object) ([]string, error) {
	gvk := o.GetObjectKind().GroupVersionKind()
	is := groupKind{gvk.Group, gvk.Kind}
	switch index {
	case byOwner:
		if is == kindOperator.group() {
			return []string{namespaceOf(o.GetName())}, nil
		}
		if ns, ok := o.GetLabels()[ownerlabel.Namespace]; ok {
			return []string{ns}, nil
		}
	case bySubject:
		if is != kindClusterRoleBinding.group() {
			return nil, nil
		}
		u, err := unpacked(o)
		if err != nil {
			return nil, err
		}
		list, _, _ := unstructured.NestedSlice(u.Object, "subjects")
		var out []string
		for _, x := range list {
			if s, ok := x.(map[string]any); ok && s["kind"] == "ServiceAccount" {
				if ns, ok := s["namespace"].(string); ok && !slices.Contains(out, ns) {
					out = append(out, ns)
				}
			}
		}
		return out, nil
	case byOLM:
		if is == kindDeployment.group() && reconcile.IsOLMName(o.GetName()) {
			return []string{""}, nil
		}
	case byTarget:
		if is != kindOperatorGroup.group() {
			return nil, nil
		}
		u, err := unpacked(o)
		if err != nil {
			return nil, err
		}
		targets, _, _ := unstructured.NestedStringSlice(u.Object, "status", "namespaces")
		return targets, nil
	case byCopy:
		if o.GetLabels()[olm.LabelCopiedFrom] != "" {
			return []string{o.GetName()}, nil
		}
	case byOriginal:
		if is == kindCSV.group() {
			return []string{o.GetLabels()[olm.LabelCopiedFrom]}, nil
		}
	}
	return nil, nil
}

// indexed is like indexValues, for objects that are in the index already.
func indexed(index string, o client.Object) []string {
	values, _ := indexValues(index, o)
	return values
}

// live reads from the API server.
type live struct{ client client.Reader }

func (l live) list(ctx context.Context, k kind, s selection) ([]entry, error) {
	var out []entry
	opts := []client.ListOption{client.InNamespace(s.namespace), client.Limit(500)}
	for next := ""; ; {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(k.gvk.GroupVersion().WithKind(k.gvk.Kind + "List"))
		if err := l.client.List(ctx, list, append(opts[:2:2], client.Continue(next))...); err != nil {
			return nil, readError(err)
		}
		for i := range list.Items {
			u := &list.Items[i]
			if s.index != "" {
				values, err := indexValues(s.index, u)
				if err != nil {
					return nil, err
				}
				if !slices.Contains(values, s.value) {
					continue
				}
			}
			e := entry{namespace: u.GetNamespace(), name: u.GetName()}
			e.value, e.err = decode(k, u)
			out = append(out, e)
		}
		if next = list.GetContinue(); next == "" {
			break
		}
	}
	slices.SortFunc(out, compareEntries)
	return out, nil
}

func (l live) names(ctx context.Context, k kind, s selection) ([]types.NamespacedName, error) {
	entries, err := l.list(ctx, k, s)
	var out []types.NamespacedName
	for _, e := range entries {
		out = append(out, types.NamespacedName{Namespace: e.namespace, Name: e.name})
	}
	return out, err
}

func (l live) get(ctx context.Context, k kind, namespace, name string) (olm.Resource, error) {
	u, err := l.unstructured(ctx, k.gvk, namespace, name)
	if u == nil || err != nil {
		return nil, err
	}
	return decode(k, u)
}

// unstructured returns an object of any kind, or nil if the object or the kind
// does not exist.
func (l live) unstructured(ctx context.Context, gvk schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	err := l.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, u)
	switch {
	case err == nil:
		return u, nil
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		return nil, nil
	}
	return nil, readError(err)
}

// readError leaves context errors unwrapped and adds context to others.
func readError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("reading from the cluster: %w", err)
}
