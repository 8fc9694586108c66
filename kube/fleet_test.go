package kube_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const globalNamespace = "olm"

// widgets returns a catalog with a package widget, in whose channel stable each
// version replaces the previous one. Files are files of testdata to add to the
// bundles, in addition to the CSV and the CRD.
func widgets(t testing.TB, versions []string, files ...string) *fbc.Catalog {
	t.Helper()
	return widgetsOf(t, "widget.csv.yaml", versions, files...)
}

// widgetsOf is like widgets, with another CSV.
func widgetsOf(t testing.TB, csv string, versions []string, files ...string) *fbc.Catalog {
	t.Helper()
	text := widgetText(t, csv, versions, files...)
	blobs, err := fbc.LoadReader(context.Background(), strings.NewReader(text), "widget.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	return blobs
}

func widgetText(t testing.TB, csv string, versions []string, files ...string) string {
	t.Helper()
	var b, entries strings.Builder
	fmt.Fprintf(&b, "schema: olm.package\nname: widget\ndefaultChannel: stable\n")
	for i, v := range versions {
		replaces := ""
		if i > 0 {
			replaces = ", replaces: widget.v" + versions[i-1]
		}
		fmt.Fprintf(&entries, "- {name: widget.v%s%s}\n", v, replaces)
		fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: widget\nname: widget.v%s\nimage: example.com/widget:%s\nproperties:\n", v, v)
		fmt.Fprintf(&b, "- {type: olm.package, value: {packageName: widget, version: %s}}\n", v)
		fmt.Fprintf(&b, "- {type: olm.gvk, value: {group: example.com, version: v1, kind: Widget}}\n")
		for _, file := range append([]string{csv, "widget.crd.yaml"}, files...) {
			text, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			text = bytes.ReplaceAll(text, []byte("VERSION"), []byte(v))
			for doc := range bytes.SplitSeq(text, []byte("---\n")) {
				fmt.Fprintf(&b, "- {type: olm.bundle.object, value: {data: %s}}\n", base64.StdEncoding.EncodeToString(doc))
			}
		}
	}
	fmt.Fprintf(&b, "---\nschema: olm.channel\npackage: widget\nname: stable\nentries:\n%s", entries.String())
	return b.String()
}

// contentOf returns content with one catalog, in the global namespace.
func contentOf(t testing.TB, name string, blobs *fbc.Catalog) *reconcile.Catalogs {
	t.Helper()
	content := &reconcile.Catalogs{}
	must(t, content.Add(context.Background(), resolver.CatalogID{Name: name, Namespace: globalNamespace}, blobs))
	return content
}

// catalogs returns content with one catalog and creates its CatalogSource.
func catalogs(t testing.TB, c client.Client, name string, blobs *fbc.Catalog) *reconcile.Catalogs {
	t.Helper()
	content := contentOf(t, name, blobs)
	namespace(t, c, globalNamespace)
	src := &operatorsv1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: globalNamespace},
		Spec:       operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, Address: "nowhere:50051"},
	}
	must(t, c.Create(context.Background(), src))
	t.Cleanup(func() { must(t, c.Delete(context.Background(), src)) })
	src.Status.GRPCConnectionState = &operatorsv1alpha1.GRPCConnectionState{LastObservedState: "READY"}
	must(t, c.Status().Update(context.Background(), src))
	return content
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A fleet is a running manager with a reconciler.
type fleet struct {
	*kube.Reconciler
	Metrics *kube.Metrics
}

// start runs a manager with a reconciler until the test ends.
func start(t testing.TB, config *rest.Config, content reconcile.Content, adjust ...func(*kube.Reconciler)) *fleet {
	t.Helper()
	m, err := manager.New(config, manager.Options{
		Scheme:  newScheme(t),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultTransform: kube.Strip},
	})
	must(t, err)
	cluster, err := kube.NewCluster(context.Background(), config, kube.ClusterOptions{
		GlobalNamespace: globalNamespace, RoleNaming: operatorgroup.Running, Cache: m.GetCache(), Mapper: m.GetRESTMapper(),
	})
	must(t, err)
	f := &fleet{Metrics: kube.NewMetrics()}
	f.Reconciler = &kube.Reconciler{
		Cluster: cluster, Content: content, Options: reconcile.Options{RoleNaming: operatorgroup.Running},
		Metrics: f.Metrics, Retry: time.Second,
	}
	for _, a := range adjust {
		a(f.Reconciler)
	}
	must(t, f.SetupWithManager(m))
	run(t, m)
	return f
}

func run(t testing.TB, m manager.Manager) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- m.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager returned %v", err)
		}
	})
}

// playDeployments makes deployments available, as a cluster would. A deployment
// is unavailable while one of the functions returns true.
func playDeployments(t testing.TB, down ...func(*appsv1.Deployment) bool) {
	t.Helper()
	m, err := manager.New(env.Config, manager.Options{Scheme: newScheme(t), Metrics: metricsserver.Options{BindAddress: "0"}})
	must(t, err)
	c := m.GetClient()
	err = ctrl.NewControllerManagedBy(m).Named("deployments-" + strings.ReplaceAll(strings.ToLower(t.Name()), "/", "-")).For(&appsv1.Deployment{}).
		WithOptions(controller.Options{SkipNameValidation: new(true)}). // -count runs it several times
		Complete(
			ctrlFunc(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				d := &appsv1.Deployment{}
				if err := c.Get(ctx, req.NamespacedName, d); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				if d.Status.ObservedGeneration == d.Generation || d.Annotations["test/stays-down"] != "" {
					return ctrl.Result{}, nil
				}
				if slices.ContainsFunc(down, func(f func(*appsv1.Deployment) bool) bool { return f(d) }) {
					return ctrl.Result{RequeueAfter: 50 * time.Millisecond}, nil
				}
				d.Status.ObservedGeneration = d.Generation
				d.Status.Replicas, d.Status.UpdatedReplicas, d.Status.AvailableReplicas, d.Status.ReadyReplicas = 1, 1, 1, 1
				d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"}}
				return ctrl.Result{}, c.Status().Update(ctx, d)
			}))
	must(t, err)
	run(t, m)
}

type ctrlFunc func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f ctrlFunc) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	return f(ctx, r)
}

func operatorGroup(ns string, targets ...string) *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "group", Namespace: ns}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: targets}}
}

func subscription(ns, catalog string) *operatorsv1alpha1.Subscription {
	return &operatorsv1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Name: "widget", Namespace: ns},
		Spec: &operatorsv1alpha1.SubscriptionSpec{
			Package: "widget", Channel: "stable", CatalogSource: catalog, CatalogSourceNamespace: globalNamespace,
			InstallPlanApproval: operatorsv1alpha1.ApprovalAutomatic,
		},
	}
}

// patience is the maximum time to wait for a condition. It is long enough for a
// slow or shared machine.
const patience = 4 * time.Minute

// eventually waits until the condition returns nil. It fails the test with its last
// error after the limit.
func eventually(t testing.TB, limit time.Duration, condition func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = condition(); err == nil {
			return
		}
	}
	t.Fatalf("not within %s: %v", limit, err)
}

// installed returns an error unless the given version of the subscription
// widget is installed and has succeeded.
func installed(c client.Client, ns, version string) error {
	sub := &operatorsv1alpha1.Subscription{}
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: ns, Name: "widget"}, sub); err != nil {
		return err
	}
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: ns, Name: "widget.v" + version}, csv); err != nil {
		return fmt.Errorf("%w; subscription %s: %+v", err, sub.Status.State, sub.Status.Conditions)
	}
	if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
		return fmt.Errorf("%s is %s: %s %+v", csv.Name, csv.Status.Phase, csv.Status.Message, csv.Status.RequirementStatus)
	}
	if sub.Status.InstalledCSV != csv.Name || sub.Status.State != operatorsv1alpha1.SubscriptionStateAtLatest {
		return fmt.Errorf("subscription has %q, %s: %+v", sub.Status.InstalledCSV, sub.Status.State, sub.Status.Conditions)
	}
	return nil
}
