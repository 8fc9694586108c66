package kube_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	operatorsv2 "github.com/operator-framework/api/pkg/operators/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/internal/metric"
	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/kube"
)

// token returns a token of a service account.
func token(t testing.TB, namespace, account string) string {
	t.Helper()
	k, err := kubernetes.NewForConfig(env.Config)
	must(t, err)
	r, err := k.CoreV1().ServiceAccounts(namespace).CreateToken(context.Background(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	must(t, err)
	return r.Status.Token
}

// wipe removes everything that a test left in the cluster. A controller that
// still runs may see the deletions in another order and write objects again, so
// it repeats them until none is found.
func wipe(t testing.TB, namespaces ...string) {
	c, ctx := admin(t), context.Background()
	eventually(t, patience, func() error {
		var g errgroup.Group
		g.SetLimit(16)
		for _, ns := range namespaces {
			g.Go(func() error {
				for _, o := range []client.Object{
					&operatorsv1alpha1.Subscription{}, &operatorsv1alpha1.InstallPlan{}, &operatorsv1alpha1.ClusterServiceVersion{},
					&operatorsv1.OperatorGroup{}, &operatorsv2.OperatorCondition{}, &appsv1.Deployment{}, &rbacv1.Role{}, &rbacv1.RoleBinding{},
					&corev1.ServiceAccount{}, &corev1.Service{},
				} {
					if err := c.DeleteAllOf(ctx, o, client.InNamespace(ns)); err != nil {
						return err
					}
				}
				plans := &operatorsv1alpha1.InstallPlanList{}
				if err := c.List(ctx, plans, client.InNamespace(ns)); err != nil {
					return err
				}
				if n := len(plans.Items); n > 0 {
					return fmt.Errorf("%s still has %d plans", ns, n)
				}
				return nil
			})
		}
		if err := g.Wait(); err != nil {
			return err
		}
		for _, o := range []client.Object{&rbacv1.ClusterRole{}, &rbacv1.ClusterRoleBinding{}} {
			if err := c.DeleteAllOf(ctx, o, client.HasLabels{ownerlabel.Name}); err != nil {
				return err
			}
		}
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}}
		if err := c.Delete(ctx, crd); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the CRD is still there: %v", err)
		}
		return nil
	})
}

// E1 to E3, E9, F7, G1: an operator is installed from a subscription with
// manual approval, with only the permissions that kube.Rules returns, and
// without writes outside the namespaces concerned.
func TestInstall(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "install", widgets(t, []string{"0.1.1"}, "widget.service.yaml"))
	playDeployments(t)
	config, writes := restricted(t)
	f := start(t, config, content)
	namespace(t, c, "install")
	namespace(t, c, "install-target")
	t.Cleanup(func() { wipe(t, "install", "install-target") })
	must(t, c.Create(ctx, operatorGroup("install", "install-target")))
	sub := subscription("install", "install")
	sub.Spec.InstallPlanApproval = operatorsv1alpha1.ApprovalManual
	must(t, c.Create(ctx, sub))

	plan := &operatorsv1alpha1.InstallPlan{}
	eventually(t, patience, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(sub), sub); err != nil {
			return err
		}
		if sub.Status.InstallPlanRef == nil {
			return fmt.Errorf("there is no install plan: %+v", sub.Status)
		}
		if err := c.Get(ctx, client.ObjectKey{Namespace: "install", Name: sub.Status.InstallPlanRef.Name}, plan); err != nil {
			return err
		}
		if plan.Status.Phase != operatorsv1alpha1.InstallPlanPhaseRequiresApproval {
			return fmt.Errorf("the plan is %q", plan.Status.Phase)
		}
		return nil
	})
	quiet(t, writes)
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "install", Name: "widget.v0.1.1"}, csv); err == nil {
		t.Fatal("the operator was installed without approval")
	}
	plan.Spec.Approved = true
	must(t, c.Update(ctx, plan))
	eventually(t, patience, func() error { return installed(c, "install", "0.1.1") })

	for _, o := range []client.Object{
		&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "widget", Namespace: "install"}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "widget", Namespace: "install"}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "widget", Namespace: "install"}},
		&operatorsv2.OperatorCondition{ObjectMeta: metav1.ObjectMeta{Name: "widget.v0.1.1", Namespace: "install"}},
	} {
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(o.GetManagedFields(), func(f metav1.ManagedFieldsEntry) bool { return f.Manager == kube.FieldOwner }) {
			t.Errorf("%T %s is not marked as written by %s", o, o.GetName(), kube.FieldOwner)
		}
	}
	eventually(t, patience, func() error {
		bindings := &rbacv1.RoleBindingList{}
		if err := c.List(ctx, bindings, client.InNamespace("install-target")); err != nil || len(bindings.Items) > 0 {
			return err
		}
		return errors.New("the operator has no permissions in its target namespace")
	})
	copied := &operatorsv1alpha1.ClusterServiceVersion{}
	eventually(t, patience, func() error {
		return c.Get(ctx, client.ObjectKey{Namespace: "install-target", Name: "widget.v0.1.1"}, copied)
	})
	list := &eventsv1.EventList{}
	eventually(t, patience, func() error {
		if err := c.List(ctx, list, client.InNamespace("install")); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
			return e.Regarding.Kind == "ClusterServiceVersion" && e.Regarding.UID != ""
		}) {
			return errors.New("there is no event for the CSV")
		}
		return nil
	})
	for _, w := range outside(writes, "install", "install-target") {
		t.Errorf("a write outside the namespaces: %+v", w)
	}
	registry := prometheus.NewPedanticRegistry()
	must(t, registry.Register(f.Metrics))
	eventually(t, patience, func() error { // the last run sets them
		families, err := registry.Gather()
		must(t, err)
		values := map[string]float64{}
		for _, m := range families {
			for _, x := range m.Metric {
				values[m.GetName()] += x.GetGauge().GetValue() + x.GetCounter().GetValue() + float64(x.GetSummary().GetSampleCount())
			}
		}
		for _, name := range []string{
			metric.CSVSucceeded, metric.CSVs, metric.Subscriptions, metric.InstallPlans,
			metric.ResolutionDuration, metric.SubscriptionSyncs,
		} {
			if values[name] < 1 {
				return fmt.Errorf("metric %s is %v", name, values[name])
			}
		}
		return nil
	})

	// At rest nothing is written.
	if len(writes.list()) == 0 {
		t.Fatal("the audit has no writes at all")
	}
	quiet(t, writes)
}

// E2, E5, G1: an upgrade takes one step at a time, and the older version goes
// only when the newer one runs.
func TestUpgradeWalk(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "walk", widgets(t, []string{"0.1.1", "0.1.2", "0.1.3"}))
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, content)
	namespace(t, c, "walk")
	t.Cleanup(func() { wipe(t, "walk") })
	seen := watchInstalled(t, "walk")
	must(t, c.Create(ctx, operatorGroup("walk", "walk")))
	sub := subscription("walk", "walk")
	sub.Spec.StartingCSV = "widget.v0.1.1"
	must(t, c.Create(ctx, sub))
	eventually(t, patience, func() error { return installed(c, "walk", "0.1.3") })
	eventually(t, patience, func() error { return only(c, "walk", "widget.v0.1.3") })
	if got, want := seen("widget.v0.1.3"), []string{"widget.v0.1.1", "widget.v0.1.2", "widget.v0.1.3"}; !slices.Equal(got, want) {
		t.Errorf("went by %q, want %q", got, want)
	}
}

// only returns an error unless a namespace has one CSV.
func only(c client.Client, ns, name string) error {
	list := &operatorsv1alpha1.ClusterServiceVersionList{}
	if err := c.List(context.Background(), list, client.InNamespace(ns)); err != nil {
		return err
	}
	var names []string
	for _, v := range list.Items {
		names = append(names, v.Name)
	}
	if !slices.Equal(names, []string{name}) {
		return fmt.Errorf("the CSVs are %q, want %s alone", names, name)
	}
	return nil
}

// watchInstalled returns a function that waits until the subscription widget in
// a namespace has the version last installed. That function returns all
// versions that were installed, in order.
func watchInstalled(t testing.TB, ns string) func(last string) []string {
	t.Helper()
	c, err := client.NewWithWatch(env.Config, client.Options{Scheme: newScheme(t)})
	must(t, err)
	w, err := c.Watch(context.Background(), &operatorsv1alpha1.SubscriptionList{}, client.InNamespace(ns))
	must(t, err)
	t.Cleanup(w.Stop)
	var seen []string
	return func(last string) []string {
		t.Helper()
		timeout := time.After(patience)
		for !slices.Contains(seen, last) {
			select {
			case e, ok := <-w.ResultChan():
				if !ok {
					t.Fatalf("the watch ended after %q", seen)
				}
				if s, ok := e.Object.(*operatorsv1alpha1.Subscription); ok && s.Status.InstalledCSV != "" && !slices.Contains(seen, s.Status.InstalledCSV) {
					seen = append(seen, s.Status.InstalledCSV)
				}
			case <-timeout:
				t.Fatalf("the watch reported %q, but not %s", seen, last)
			}
		}
		return seen
	}
}
