package extension_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// A counter counts requests, except watches.
type counter struct {
	http.RoundTripper
	n *atomic.Int64
}

func (c counter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Get("watch") == "" {
		c.n.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// clientOf returns a client for a controller. If kills is set, it closes dead instead of making
// a second write, and makes none from then on.
func (s *stage) clientOf(config *rest.Config, kills bool, dead chan struct{}) client.Client {
	inner, err := client.NewWithWatch(config, client.Options{Scheme: s.scheme()})
	if err != nil {
		s.t.Fatal(err)
	}
	var writes atomic.Int64
	count := func(dry []string, write func() error) error {
		if len(dry) > 0 {
			return write()
		}
		if n := writes.Add(1); kills && n > 1 {
			if n == 2 {
				close(dead)
			}
			return errors.New("killed")
		}
		return write()
	}
	return interceptor.NewClient(inner, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			var all client.CreateOptions
			return count(all.ApplyOptions(opts).DryRun, func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return count(nil, func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return count(nil, func() error { return c.Patch(ctx, o, p, opts...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			var all client.ApplyOptions
			return count(all.ApplyOptions(opts).DryRun, func() error { return c.Apply(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return count(nil, func() error { return c.Delete(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return count(nil, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

// start starts a controller, and another one whenever it is killed.
func (s *stage) start() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			s.controller(ctx)
		}
	}()
	s.stop = func() { cancel(); <-ended }
}

// controller runs a controller until the context ends or it is killed.
func (s *stage) controller(ctx context.Context) {
	config := rest.CopyConfig(s.env.Config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counter{next, &s.requests} })
	m, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: s.scheme(), Metrics: server.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		s.t.Error(err)
		return
	}
	now := func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return time.Now().Add(s.ahead)
	}
	s.mu.Lock()
	kills := s.kills
	s.mu.Unlock()
	dead := make(chan struct{})
	c := s.clientOf(config, kills, dead)
	r := &extension.Reconciler{
		Client: c, Catalogs: &extension.Served{}, Now: now,
		Rollouts: &extension.Rollouts{Client: c, Namespace: systemNamespace, Bundles: s, Certificates: registryv1.ServiceCA},
	}
	if err := r.SetupWithManager(m); err != nil {
		s.t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-dead:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := m.Start(ctx); err != nil {
		s.t.Error(err)
	}
}

// clean deletes everything that a script made, except namespaces.
func (s *stage) clean() {
	ctx := s.t.Context()
	lists := []client.ObjectList{&api.ClusterExtensionList{}}
	if err := s.client.DeleteAllOf(ctx, &api.ClusterExtension{}); err != nil {
		s.t.Error(err)
	}
	if s.experimental {
		lists = append(lists, &api.ClusterObjectSetList{})
		var sets api.ClusterObjectSetList
		if err := s.client.List(ctx, &sets); err != nil {
			s.t.Error(err)
		}
		for i := range sets.Items { // the others go with their extensions
			if metav1.GetControllerOf(&sets.Items[i]) == nil {
				if err := s.client.Delete(ctx, &sets.Items[i]); client.IgnoreNotFound(err) != nil {
					s.t.Error(err)
				}
			}
		}
	}
	for deadline := time.Now().Add(testsize.Of[time.Duration](5, 5, 30) * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		left := 0
		for _, list := range lists {
			if err := s.client.List(ctx, list); err != nil {
				s.t.Error(err)
			}
			left += meta.LenList(list)
		}
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			s.t.Errorf("extensions are left:\n%s", s.text())
			break
		}
	}
	s.stop()
	if err := s.client.DeleteAllOf(ctx, &corev1.Secret{}, client.InNamespace(systemNamespace)); err != nil {
		s.t.Error(err)
	}
	if err := s.client.DeleteAllOf(ctx, &api.ClusterCatalog{}); err != nil {
		s.t.Error(err)
	}
}

// collect does what Kubernetes' garbage collector does: it releases the dependents of what is
// deleted with the finalizer orphan, and deletes objects whose owners are gone. It changes only
// objects that are still as it has read them. It also lets claims of volumes go.
func (s *stage) collect(ctx context.Context) {
	var owned, releasing []unstructured.Unstructured
	exists := map[types.UID]bool{}
	for _, k := range kinds { // owners come last, so that no owner of a listed object is missed
		u := &unstructured.UnstructuredList{}
		u.SetGroupVersionKind(k)
		if k.Kind == "ClusterObjectSet" && !s.experimental {
			continue
		}
		if s.client.List(ctx, u) != nil {
			return // what is not listed seems to be gone
		}
		for _, o := range u.Items {
			if o.GetDeletionTimestamp() != nil && slices.Contains(o.GetFinalizers(), metav1.FinalizerOrphanDependents) {
				releasing = append(releasing, o)
			}
			if o.GetKind() == "CustomResourceDefinition" && o.GetDeletionTimestamp() != nil {
				s.client.Patch(ctx, &o, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"touched-after":%q}}}`, o.GetResourceVersion())))
			}
			if exists[o.GetUID()] = true; len(o.GetOwnerReferences()) > 0 {
				owned = append(owned, o)
			}
		}
	}
	for _, owner := range releasing {
		done := true
		for _, o := range owned {
			left := slices.DeleteFunc(o.GetOwnerReferences(), func(x metav1.OwnerReference) bool { return x.UID == owner.GetUID() })
			if len(left) < len(o.GetOwnerReferences()) {
				done = false
				released := o.DeepCopy()
				released.SetOwnerReferences(left)
				s.client.Update(ctx, released) // again if it fails
			}
		}
		if done {
			owner.SetFinalizers(slices.DeleteFunc(owner.GetFinalizers(), func(f string) bool { return f == metav1.FinalizerOrphanDependents }))
			s.client.Update(ctx, &owner)
		}
	}
	for _, o := range owned {
		if !slices.ContainsFunc(o.GetOwnerReferences(), func(x metav1.OwnerReference) bool { return exists[x.UID] }) {
			uid, version := o.GetUID(), o.GetResourceVersion()
			s.client.Delete(ctx, &o, client.Preconditions{UID: &uid, ResourceVersion: &version}) // again if it fails
			if o.GetKind() == "PersistentVolumeClaim" {
				s.client.Patch(ctx, &o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
			}
		}
	}
}

// kubelet makes deployments available, and collects garbage.
func (s *stage) kubelet(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		s.kubeletBusy.Lock()
		if n%20 == 0 {
			s.collect(ctx)
		}
		s.available(ctx)
		s.kubeletBusy.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// available makes deployments available, except for the broken ones.
func (s *stage) available(ctx context.Context) {
	var list appsv1.DeploymentList
	if err := s.client.List(ctx, &list); err != nil {
		return // again
	}
	for i := range list.Items {
		d := &list.Items[i]
		s.mu.Lock()
		status := corev1.ConditionTrue
		if s.broken[d.Name] {
			status = corev1.ConditionFalse
		}
		s.mu.Unlock()
		if d.Status.ObservedGeneration == d.Generation && len(d.Status.Conditions) > 0 && d.Status.Conditions[0].Status == status {
			continue
		}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: status}}}
		s.client.Status().Update(ctx, d) // again if somebody else has changed it
	}
}
