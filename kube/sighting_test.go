package kube_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/reconcile"
)

// watched is a controller whose runs and writes are counted.
type watched struct {
	*fleet
	runs   *atomic.Int32
	writes *audit
}

func startWatched(t *testing.T, content reconcile.Content) watched {
	t.Helper()
	config, writes := restricted(t)
	w := watched{runs: new(atomic.Int32), writes: writes}
	w.fleet = start(t, config, nil, func(r *kube.Reconciler) {
		r.Contents = func() reconcile.Content { w.runs.Add(1); return content }
	})
	return w
}

// written returns what the controller wrote, except for events.
func (w watched) written() (list []string) {
	for _, e := range w.writes.list() {
		if !strings.Contains(e.path, "/events") {
			list = append(list, fmt.Sprint(e))
		}
	}
	return list
}

// runsOnce waits until a change has caused a run, and none follows within a second.
func (w watched) runsOnce(t *testing.T, change func() error) {
	t.Helper()
	before := w.runs.Load()
	must(t, change())
	eventually(t, patience, func() error {
		n := w.runs.Load()
		if n == before {
			return fmt.Errorf("no run")
		}
		time.Sleep(time.Second)
		if more := w.runs.Load() - n; more > 0 {
			return fmt.Errorf("%d more runs", more)
		}
		return nil
	})
}

// reported waits for an event that reports OLM at an object.
func reported(t *testing.T, c client.Client, ns, kind string) {
	t.Helper()
	eventually(t, patience, func() error {
		list := &eventsv1.EventList{}
		if err := c.List(context.Background(), list, client.InNamespace(ns)); err != nil {
			return err
		}
		if !slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool {
			return e.Reason == "OLMRunning" && e.Regarding.Kind == kind && strings.Contains(e.Note, "nothing is written, because")
		}) {
			return fmt.Errorf("no event OLMRunning about a %s in %d events", kind, len(list.Items))
		}
		return nil
	})
}

// catalogOperator creates a deployment that shows that OLM runs.
func catalogOperator(t *testing.T, c client.Client) *appsv1.Deployment {
	t.Helper()
	labels := map[string]string{"app": "catalog-operator"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "catalog-operator", Namespace: globalNamespace},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "catalog-operator", Image: "olm", Command: []string{"/bin/catalog"}}}},
		}},
	}
	must(t, c.Create(context.Background(), d))
	t.Cleanup(func() { must(t, client.IgnoreNotFound(c.Delete(context.Background(), d))) })
	return d
}

// E34: olmkit is started by mistake while OLM runs. It writes nothing and reports where OLM
// runs. Once OLM is stopped, it installs what it found.
func TestStartedBesideOLM(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "beside", widgetsOf(t, "light.csv.yaml", []string{"0.1.1"}))
	playDeployments(t)
	namespace(t, c, globalNamespace)
	namespace(t, c, "beside")
	t.Cleanup(func() { wipe(t, "beside") })
	d := catalogOperator(t, c)
	must(t, c.Create(ctx, operatorGroup("beside", "beside")))
	w := startWatched(t, content)
	reported(t, c, globalNamespace, "Deployment")
	w.runsOnce(t, func() error { return c.Create(ctx, subscription("beside", "beside")) })
	if got := w.written(); len(got) > 0 {
		t.Errorf("while OLM runs, it wrote %q", got)
	}
	if w.Writes(ctx, "beside") {
		t.Error("statuses of catalogs are written while OLM runs")
	}
	must(t, c.Delete(ctx, d))
	eventually(t, patience, func() error { return installed(c, "beside", "0.1.1") })
	if !w.Writes(ctx, "beside") {
		t.Error("statuses of catalogs are not written after OLM was stopped")
	}
}

// E34: OLM is started by mistake while olmkit runs, where olmkit cannot see its deployment.
// Once OLM has changed what olmkit wrote, olmkit writes nothing anymore, so OLM does not
// either.
func TestOLMStartedBeside(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "joined", widgetsOf(t, "light.csv.yaml", []string{"0.1.1"}))
	playDeployments(t)
	w := startWatched(t, content)
	namespace(t, c, "joined")
	t.Cleanup(func() { wipe(t, "joined") })
	must(t, c.Create(ctx, operatorGroup("joined", "joined")))
	must(t, c.Create(ctx, subscription("joined", "joined")))
	eventually(t, patience, func() error { return installed(c, "joined", "0.1.1") })

	rewrites := playOLM(t, c, client.ObjectKey{Namespace: "joined", Name: "widget"})
	reported(t, c, "joined", "Subscription")
	label := func(value string) func() error {
		return func() error {
			return c.Patch(ctx, subscription("joined", "joined"), client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"test/x":%q}}}`, value)))
		}
	}
	w.runsOnce(t, label("1"))
	before, after := w.written(), rewrites.Load()
	w.runsOnce(t, label("2"))
	if got := w.written()[len(before):]; len(got) > 0 {
		t.Errorf("it continues to write: %q", got)
	}
	if n := rewrites.Load() - after; n > 0 {
		t.Errorf("OLM wrote %d times, as if olmkit still did", n)
	}
}

// playOLM rewrites the status of a subscription like OLM's catalog operator that cannot
// connect to the catalog, each time that it differs. It returns how often it did.
func playOLM(t *testing.T, c client.Client, name client.ObjectKey) *atomic.Int32 {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	n, done := new(atomic.Int32), make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	const message = "targeted catalogsource is unreachable"
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
			sub := &operatorsv1alpha1.Subscription{}
			if c.Get(ctx, name, sub) != nil {
				continue
			}
			if i := slices.IndexFunc(sub.Status.Conditions, func(c operatorsv1alpha1.SubscriptionCondition) bool {
				return c.Type == operatorsv1alpha1.SubscriptionCatalogSourcesUnhealthy
			}); i >= 0 && sub.Status.Conditions[i].Message == message {
				continue
			}
			sub.Status.Conditions = []operatorsv1alpha1.SubscriptionCondition{{
				Type: operatorsv1alpha1.SubscriptionCatalogSourcesUnhealthy, Status: corev1.ConditionTrue, Reason: "UnhealthyCatalogSourceFound", Message: message,
			}}
			sub.Status.LastUpdated = metav1.Now()
			if c.Status().Update(ctx, sub, client.FieldOwner("catalog")) == nil {
				n.Add(1)
			}
		}
	}()
	return n
}
