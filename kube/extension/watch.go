package extension

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
)

// watchRollouts sets the readers of the rollouts to caches, and has extensions and object sets
// reconciled when anything changes that belongs to them. It also starts the controller of object
// sets, if the cluster has them.
func (r *Reconciler) watchRollouts(m ctrl.Manager, extensions controller.Controller) error { // K63
	x := r.Rollouts
	owned, err := labels.NewRequirement(desired.OwnerName, selection.Exists, nil)
	if err != nil {
		return err
	}
	objects, err := cache.New(m.GetConfig(), cache.Options{
		HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper(), DefaultLabelSelector: labels.NewSelector().Add(*owned),
	})
	if err != nil {
		return err
	}
	if err := m.Add(objects); err != nil {
		return err
	}
	x.Objects = objects
	var sets controller.Controller
	_, err = m.GetRESTMapper().RESTMapping(schema.GroupKind{Group: api.GroupVersion.Group, Kind: "ClusterObjectSet"}, api.GroupVersion.Version)
	switch {
	case err == nil:
		x.ObjectSets = m.GetCache()
		sets, err = ctrl.NewControllerManagedBy(m).Named("olmkit-clusterobjectset").For(&api.ClusterObjectSet{}).WithOptions(options).Build(reconcile.Func(r.rollSet))
		if err != nil {
			return err
		}
		if err := extensions.Watch(source.Kind(m.GetCache(), &api.ClusterObjectSet{}, handler.TypedEnqueueRequestsFromMapFunc(ownerOf[*api.ClusterObjectSet]))); err != nil {
			return err
		}
	case !meta.IsNoMatchError(err):
		return err
	}
	var mu sync.Mutex
	watched := map[schema.GroupVersionKind]bool{}
	x.Watch = func(ctx context.Context, gvk schema.GroupVersionKind) error {
		mu.Lock()
		defer mu.Unlock()
		if watched[gvk] {
			return nil
		}
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(gvk)
		if _, err := objects.GetInformer(ctx, o); err != nil {
			return err
		}
		if err := extensions.Watch(source.Kind(objects, o, handler.TypedEnqueueRequestsFromMapFunc(ownerOf[*unstructured.Unstructured]))); err != nil {
			return err
		}
		if sets != nil {
			if err := sets.Watch(source.Kind(objects, o, handler.TypedEnqueueRequestsFromMapFunc(setsOf))); err != nil {
				return err
			}
		}
		watched[gvk] = true
		return nil
	}
	return extensions.Watch(source.Kind(objects, &corev1.Secret{}, handler.TypedEnqueueRequestsFromMapFunc(ownerOf[*corev1.Secret])))
}

// ownerOf returns the extension that an object belongs to.
func ownerOf[T client.Object](_ context.Context, o T) []reconcile.Request {
	name := o.GetLabels()[desired.OwnerName]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: name}}}
}

// setsOf returns the object sets that an object belongs to.
func setsOf(_ context.Context, o *unstructured.Unstructured) (out []reconcile.Request) {
	for _, x := range o.GetOwnerReferences() {
		if x.Kind == "ClusterObjectSet" {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: x.Name}})
		}
	}
	return out
}
