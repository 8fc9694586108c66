package extension

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
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
)

// watch sets Objects to a cache of everything that belongs to an extension, and has the
// controller reconcile an extension when any of it changes.
func (x *Rollouts) watch(m ctrl.Manager, c controller.Controller) error {
	owned, err := labels.NewRequirement(ownerName, selection.Exists, nil)
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
		if err := c.Watch(source.Kind(objects, o, handler.TypedEnqueueRequestsFromMapFunc(owner[*unstructured.Unstructured]))); err != nil {
			return err
		}
		watched[gvk] = true
		return nil
	}
	return c.Watch(source.Kind(objects, &corev1.Secret{}, handler.TypedEnqueueRequestsFromMapFunc(owner[*corev1.Secret])))
}

// owner returns the extension that an object belongs to.
func owner[T client.Object](_ context.Context, o T) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: o.GetLabels()[ownerName]}}}
}
