package kube_test

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/clustertest"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// env is the control plane of this test binary.
var env envtest.Environment

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard()) // failures report their cause
	envtest.Main(suite{m}, &env)
}

func newScheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, kube.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// admin returns a client of the administrator, with typed objects.
func admin(t testing.TB) client.Client {
	t.Helper()
	c, err := client.New(env.Config, client.Options{Scheme: newScheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func namespace(t testing.TB, c client.Client, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreAlreadyExists(c.Create(context.Background(), ns)); err != nil {
		t.Fatal(err)
	}
}

// startCache returns a cache that has not been started, and a function that
// starts it.
func startCache(t testing.TB) (c cache.Cache, start func()) {
	t.Helper()
	c, err := cache.New(env.Config, cache.Options{Scheme: newScheme(t), DefaultTransform: kube.Pack()})
	if err != nil {
		t.Fatal(err)
	}
	return c, func() {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- c.Start(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		if !c.WaitForCacheSync(ctx) {
			t.Fatal("the cache does not sync")
		}
	}
}

// newCluster returns a cluster with only the permissions of kube.Rules.
func newCluster(t testing.TB, c cache.Cache) *kube.Cluster {
	t.Helper()
	config, _ := restricted(t)
	cluster, err := kube.NewCluster(context.Background(), config, kube.ClusterOptions{Cache: c})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// TestCluster runs the tests for implementations of reconcile.Cluster against a
// real API server, without a cache and with one that lags behind.
func TestCluster(t *testing.T) {
	c := admin(t)
	namespace(t, c, clustertest.Namespace)
	restricted(t)
	// The tests write subscriptions, as users do.
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "clustertest", Namespace: clustertest.Namespace},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"operators.coreos.com"}, Resources: []string{"subscriptions"}, Verbs: []string{"update", "delete"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "olmkit", Namespace: globalNamespace}},
	}
	for _, o := range []client.Object{role, binding} {
		must(t, client.IgnoreAlreadyExists(c.Create(context.Background(), o)))
		t.Cleanup(func() { must(t, c.Delete(context.Background(), o)) })
	}
	waitAllowed(t, c, "system:serviceaccount:"+globalNamespace+":olmkit", clustertest.Namespace, permission{olmGroup, "subscriptions", "delete"})
	empty := func(t *testing.T) {
		t.Helper()
		if err := c.DeleteAllOf(context.Background(), &operatorsv1alpha1.Subscription{}, client.InNamespace(clustertest.Namespace)); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("live", func(t *testing.T) {
		clustertest.Run(t, func(t *testing.T) reconcile.Cluster {
			empty(t)
			return newCluster(t, nil)
		})
	})
	t.Run("cached", func(t *testing.T) {
		clustertest.Run(t, func(t *testing.T) reconcile.Cluster {
			empty(t)
			cache, start := startCache(t)
			cluster := newCluster(t, cache)
			start()
			return cluster
		})
	})
}
