package kube_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// G3: an upgrade through several versions has the usual result even if another writer
// changes the same objects, two replicas manage the namespace, the API server is restarted
// and etcd stalls.
func TestDisturbedWalk(t *testing.T) {
	c, ctx := admin(t), context.Background()
	versions := []string{"0.1.1", "0.1.2", "0.1.3", "0.1.4", "0.1.5"}
	content := catalogs(t, c, "disturbed", widgets(t, versions, "widget.service.yaml"))
	var down atomic.Value // the version whose deployment stays unavailable, where the upgrade waits
	down.Store("0.1.2")
	playDeployments(t, func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.Containers[0].Image == fmt.Sprint("example.com/widget:", down.Load())
	})
	config, _ := restricted(t)
	start(t, config, content)
	start(t, config, content)
	namespace(t, c, "disturbed")
	t.Cleanup(func() { wipe(t, "disturbed") })
	must(t, c.Create(ctx, operatorGroup("disturbed", "disturbed")))
	sub := subscription("disturbed", "disturbed")
	sub.Spec.StartingCSV = "widget.v0.1.1"
	must(t, c.Create(ctx, sub))

	var others atomic.Int64 // writes of the other writer
	stop := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() {
		pause := time.Duration(0)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(20*time.Millisecond + pause):
			}
			start := time.Now()
			patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"test/other":"%d"}}}`, i))
			for _, o := range []client.Object{
				&operatorsv1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Name: "widget", Namespace: "disturbed"}},
				&operatorsv1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: "widget.v" + versions[i%len(versions)], Namespace: "disturbed"}},
			} {
				if c.Patch(ctx, o, patch) == nil {
					others.Add(1)
				}
			}
			pause = min(5*time.Since(start), time.Second/2) // write less often if writes take long, because the loops write too
		}
	})
	// Both happen in the middle of the upgrade.
	eventually(t, 4*time.Minute, func() error { return installing(c, "disturbed", "0.1.2") })
	must(t, env.RestartAPIServer())
	down.Store("0.1.4")
	eventually(t, 4*time.Minute, func() error { return installing(c, "disturbed", "0.1.4") })
	time.AfterFunc(time.Second, func() { down.Store("") })
	must(t, env.StallEtcd(12*time.Second)) // longer than the API server's timeout
	before := others.Load()
	eventually(t, 4*time.Minute, func() error {
		if n := others.Load() - before; n < 20 {
			return fmt.Errorf("the other writer wrote %d times after etcd resumed", n)
		}
		return nil
	})
	close(stop)
	other.Wait()
	eventually(t, 4*time.Minute, func() error { return installed(c, "disturbed", "0.1.5") })
	eventually(t, 4*time.Minute, func() error { return only(c, "disturbed", "widget.v0.1.5") })
	plans := &operatorsv1alpha1.InstallPlanList{}
	must(t, c.List(ctx, plans, client.InNamespace("disturbed")))
	var installs []string
	for _, p := range plans.Items {
		installs = append(installs, strings.Join(p.Spec.ClusterServiceVersionNames, "+"))
		if p.Status.Phase != operatorsv1alpha1.InstallPlanPhaseComplete {
			t.Errorf("plan %s is %s: %s", p.Name, p.Status.Phase, p.Status.Message)
		}
	}
	slices.Sort(installs)
	var want []string
	for _, v := range versions {
		want = append(want, "widget.v"+v)
	}
	if !slices.Equal(installs, want) {
		t.Errorf("there are plans for %q, want one for each of %q", installs, want)
	}
}

// installing returns an error unless the operator of a version is being
// installed.
func installing(c client.Client, ns, version string) error {
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: ns, Name: "widget.v" + version}, csv); err != nil {
		return err
	}
	if csv.Status.Phase != operatorsv1alpha1.CSVPhaseInstalling {
		return fmt.Errorf("%s is %s: %s", csv.Name, csv.Status.Phase, csv.Status.Message)
	}
	return nil
}

// F10, E2, E33: steps of an install plan are executed as the service account of the
// operator group. The plan reports those that are forbidden, and waits for the permissions. CRDs
// are created as the controller.
func TestServiceAccount(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "scoped", widgets(t, []string{"0.1.1"}))
	playDeployments(t)
	config, writes := restricted(t)
	start(t, config, content, func(r *kube.Reconciler) { r.Options.PlanTimeout = time.Second })
	namespace(t, c, "scoped")
	t.Cleanup(func() { wipe(t, "scoped") })
	g := operatorGroup("scoped", "scoped")
	g.Spec.ServiceAccountName = "installer"
	must(t, c.Create(ctx, serviceAccount("scoped", "installer")))
	must(t, c.Create(ctx, g))
	must(t, c.Create(ctx, subscription("scoped", "scoped")))
	const reported = `"system:serviceaccount:scoped:installer" cannot create`
	first := &operatorsv1alpha1.InstallPlan{}
	eventually(t, patience, func() error {
		list := &operatorsv1alpha1.InstallPlanList{}
		if err := c.List(ctx, list, client.InNamespace("scoped")); err != nil {
			return err
		}
		// It was tried again after the timeout.
		if len(list.Items) != 1 || !strings.Contains(list.Items[0].Status.Message, reported) || time.Since(list.Items[0].Status.StartTime.Time) < 3*time.Second {
			return fmt.Errorf("want one plan that reports the missing permission for some time: %+v", list.Items)
		}
		*first = list.Items[0]
		return nil
	})
	if first.Status.Phase != operatorsv1alpha1.InstallPlanPhaseInstalling {
		t.Errorf("the plan is %s: %s", first.Status.Phase, first.Status.Message)
	}

	// With the permissions, the plan succeeds.
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "scoped-installer"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "scoped-installer"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "installer", Namespace: "scoped"}},
	}
	must(t, c.Create(ctx, role))
	must(t, c.Create(ctx, binding))
	t.Cleanup(func() { must(t, c.Delete(ctx, binding)); must(t, c.Delete(ctx, role)) })
	eventually(t, patience, func() error { return installed(c, "scoped", "0.1.1") })
	as := map[string]bool{}
	for _, w := range writes.list() {
		if w.user != "" {
			as[w.user+" "+w.path] = true
		}
	}
	for path, want := range map[string]bool{
		"/apis/apiextensions.k8s.io/v1/customresourcedefinitions":                      false,
		"/apis/operators.coreos.com/v1alpha1/namespaces/scoped/clusterserviceversions": true,
		"/api/v1/namespaces/scoped/serviceaccounts":                                    true,
	} {
		if got := as["system:serviceaccount:scoped:installer "+path]; got != want {
			t.Errorf("%s was written as the service account: %t, want %t: %v", path, got, want, as)
		}
	}
}

// failedPlan waits until an install plan has failed and the subscription reports it.
func failedPlan(t testing.TB, c client.Client, ns string) *operatorsv1alpha1.InstallPlan {
	t.Helper()
	plan := &operatorsv1alpha1.InstallPlan{}
	eventually(t, patience, func() error {
		list := &operatorsv1alpha1.InstallPlanList{}
		if err := c.List(context.Background(), list, client.InNamespace(ns)); err != nil {
			return err
		}
		if len(list.Items) != 1 {
			return fmt.Errorf("there are %d plans", len(list.Items))
		}
		if *plan = list.Items[0]; plan.Status.Phase != operatorsv1alpha1.InstallPlanPhaseFailed {
			return fmt.Errorf("the plan is %s: %s", plan.Status.Phase, plan.Status.Message)
		}
		sub := &operatorsv1alpha1.Subscription{}
		if err := c.Get(context.Background(), client.ObjectKey{Namespace: ns, Name: "widget"}, sub); err != nil {
			return err
		}
		if cond := sub.Status.GetCondition(operatorsv1alpha1.SubscriptionInstallPlanFailed); cond.Status != "True" {
			return fmt.Errorf("the subscription does not report the failure: %+v", sub.Status.Conditions)
		}
		return nil
	})
	return plan
}

// quiet waits until nothing but events has been written for three seconds. A controller
// that keeps retrying writes every second.
func quiet(t testing.TB, writes *audit) {
	t.Helper()
	eventually(t, patience, func() error {
		before := len(writes.list())
		time.Sleep(3 * time.Second)
		for _, w := range writes.list()[before:] {
			if !strings.Contains(w.path, "/events") {
				return fmt.Errorf("there are still writes: %+v", w)
			}
		}
		return nil
	})
}

// A bundle contains an object that the API server rejects: the plan fails, reports why, and
// is not retried forever.
func TestBadObject(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "bad", widgets(t, []string{"0.1.1"}, "bad.service.yaml"))
	playDeployments(t)
	config, writes := restricted(t)
	start(t, config, content, func(r *kube.Reconciler) { r.Options.PlanTimeout = 2 * time.Second })
	namespace(t, c, "bad")
	t.Cleanup(func() { wipe(t, "bad") })
	must(t, c.Create(ctx, operatorGroup("bad", "bad")))
	must(t, c.Create(ctx, subscription("bad", "bad")))
	plan := failedPlan(t, c, "bad")
	if text := fmt.Sprint(plan.Status.Message, plan.Status.Conditions); !strings.Contains(text, "Service bad/widget") || !strings.Contains(text, "spec.ports") {
		t.Errorf("the plan does not report the error: %s", text)
	}
	quiet(t, writes)
}

// E1: when its subscription is deleted, an operator stays. When its CSV is deleted, the
// objects generated for it are deleted, except CRDs and those left to the garbage
// collector.
func TestTeardown(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "teardown", widgets(t, []string{"0.1.1"}))
	playDeployments(t)
	config, writes := restricted(t)
	start(t, config, content)
	namespace(t, c, "teardown")
	namespace(t, c, "teardown-target")
	t.Cleanup(func() { wipe(t, "teardown", "teardown-target") })
	must(t, c.Create(ctx, operatorGroup("teardown", "teardown-target")))
	sub := subscription("teardown", "teardown")
	must(t, c.Create(ctx, sub))
	eventually(t, patience, func() error { return installed(c, "teardown", "0.1.1") })
	copied := &operatorsv1alpha1.ClusterServiceVersion{}
	eventually(t, patience, func() error {
		return c.Get(ctx, client.ObjectKey{Namespace: "teardown-target", Name: "widget.v0.1.1"}, copied)
	})
	must(t, c.Delete(ctx, sub))
	quiet(t, writes)
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	must(t, c.Get(ctx, client.ObjectKey{Namespace: "teardown", Name: "widget.v0.1.1"}, csv))
	if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
		t.Errorf("without its subscription the operator is %s", csv.Status.Phase)
	}
	must(t, c.Delete(ctx, csv))
	must(t, c.Delete(ctx, operatorGroup("teardown")))
	eventually(t, patience, func() error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(copied), copied); err == nil {
			return fmt.Errorf("the copy is still there")
		}
		for _, list := range []client.ObjectList{&rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}} {
			if err := c.List(ctx, list, client.MatchingLabels{"olm.owner.namespace": "teardown"}); err != nil {
				return err
			}
			if n := meta.LenList(list); n > 0 {
				return fmt.Errorf("%d of %T are still there", n, list)
			}
		}
		return nil
	})
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(crdKind)
	if err := c.Get(ctx, client.ObjectKey{Name: "widgets.example.com"}, crd); err != nil {
		t.Errorf("the CRD was deleted, and the users' objects with it: %v", err)
	}
	for _, w := range outside(writes, "teardown", "teardown-target") {
		t.Errorf("a write outside: %+v", w)
	}
}

var crdKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

func serviceAccount(ns, name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}}
}
