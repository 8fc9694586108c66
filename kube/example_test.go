package kube_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"slices"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
)

// Reconcile one namespace until nothing is left to do, and print the changes.
func Example() {
	ctx := context.Background()
	cluster, err := kube.NewCluster(ctx, ctrl.GetConfigOrDie(), kube.ClusterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	catalogs := &reconcile.Catalogs{} // add catalogs with Add
	loop := &reconcile.Loop{
		Cluster: cluster, Content: catalogs,
		Options:  reconcile.Options{CheckResources: crd.Check},
		Progress: func(pass int, c reconcile.Change, err error) { fmt.Println(pass, c, err) },
	}
	if _, err := loop.Run(ctx, "operators"); err != nil {
		log.Fatal(err)
	}
}

// Print the changes of a plan without making them.
func ExampleCluster_Read() {
	ctx := context.Background()
	cluster, err := kube.NewCluster(ctx, ctrl.GetConfigOrDie(), kube.ClusterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	snapshot, err := cluster.Read(ctx, "operators")
	if err != nil {
		log.Fatal(err)
	}
	plan, err := reconcile.Decide(ctx, snapshot, &reconcile.Catalogs{}, &reconcile.Options{CheckResources: crd.Check})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Changes {
		fmt.Println(c)
	}
}

// A manager that reconciles all namespaces and reads catalogs from the
// locations in their CatalogSources.
func ExampleReconciler() {
	ctx := ctrl.SetupSignalHandler()
	shard := kube.Shard{Index: 0, Count: 2}
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Cache:          cache.Options{DefaultTransform: kube.Strip},
		LeaderElection: true, LeaderElectionID: shard.Name(),
	})
	if err != nil {
		log.Fatal(err)
	}
	cluster, err := kube.NewCluster(ctx, mgr.GetConfig(), kube.ClusterOptions{
		RoleNaming: operatorgroup.Running, Cache: mgr.GetCache(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		log.Fatal(err)
	}
	measured := kube.NewMetrics()
	metrics.Registry.MustRegister(measured)
	store := content.New(nil)
	changed := make(chan event.GenericEvent)
	r := &kube.Reconciler{
		Cluster: cluster, Contents: func() reconcile.Content { return store.View() }, Catalogs: changed,
		Options: reconcile.Options{RoleNaming: operatorgroup.Running}, Metrics: measured, Shard: shard,
	}
	if err := r.SetupWithManager(mgr); err != nil {
		log.Fatal(err)
	}
	sources := &content.Reconciler{Client: mgr.GetClient(), Store: store, Owns: r.Owns, Changed: changed}
	if err := sources.SetupWithManager(mgr); err != nil {
		log.Fatal(err)
	}
	if err := mgr.Start(ctx); err != nil {
		log.Fatal(err)
	}
}

// Divide namespaces among three replicas.
func ExampleShard() {
	for _, namespace := range []string{"monitoring", "operators", "team-a", "team-b"} {
		for index := range 3 {
			if s := (kube.Shard{Index: index, Count: 3}); s.Owns(namespace, nil) {
				fmt.Println(namespace, "belongs to", s.Name())
			}
		}
	}
	// Output:
	// monitoring belongs to olmkit-0-of-3
	// operators belongs to olmkit-1-of-3
	// team-a belongs to olmkit-1-of-3
	// team-b belongs to olmkit-2-of-3
}

// List the permissions that go beyond reading and writing.
func ExampleRules() {
	for _, r := range kube.Rules() {
		for _, verb := range r.Verbs {
			if slices.Contains([]string{"escalate", "bind", "impersonate"}, verb) {
				fmt.Println(verb, r.Resources)
			}
		}
	}
	// Output:
	// impersonate [serviceaccounts]
	// escalate [roles clusterroles]
	// bind [roles clusterroles]
}

// Print the manifests of a service account and its permissions, for kubectl
// apply.
func ExampleManifests() {
	text, err := kube.Manifests("olm", "olmkit")
	if err != nil {
		fmt.Println(err)
		return
	}
	for doc := range bytes.SplitSeq(text, []byte("---\n")) {
		for line := range bytes.Lines(doc) {
			if bytes.HasPrefix(line, []byte("kind: ")) {
				fmt.Print(string(line))
			}
		}
	}
	// Output:
	// kind: ServiceAccount
	// kind: ClusterRole
	// kind: ClusterRoleBinding
	// kind: Role
	// kind: RoleBinding
}

// Convert an object of a typed client to one of package olm and back.
func ExampleFromTyped() {
	scheme := runtime.NewScheme()
	if err := kube.AddToScheme(scheme); err != nil {
		fmt.Println(err)
		return
	}
	typed := &operatorsv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: "etcd", Namespace: "operators"},
		Spec:       &operatorsv1alpha1.SubscriptionSpec{Package: "etcd", Channel: "stable"},
	}
	sub, err := kube.FromTyped[olm.Subscription](scheme, typed)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sub.Key(), "wants", sub.Spec.Package)
	sub.Spec.Channel = "beta"
	var back operatorsv1alpha1.Subscription
	if err := kube.ToTyped(sub, &back); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(back.Name, back.Spec.Channel)
	// Output:
	// Subscription operators/etcd wants etcd
	// etcd beta
}

// Collect the metrics of a run for Prometheus.
func ExampleMetrics() {
	m := kube.NewMetrics()
	m.Gauges("operators", []reconcile.Sample{{Name: "subscription_count", Value: 2}})
	m.Gauges("monitoring", []reconcile.Sample{{Name: "subscription_count", Value: 1}})
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		fmt.Println(f.GetName(), f.Metric[0].Gauge.GetValue())
	}
	// Output:
	// subscription_count 3
}
