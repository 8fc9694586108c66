package kube_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/reconcile"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An event wakes the namespaces whose plan it can change, each once, and no
// other.
func TestRunsPerEvent(t *testing.T) {
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "runs", widgetsOf(t, "light.csv.yaml", []string{"0.1.1"}))
	playDeployments(t)
	config, writes := restricted(t)
	var runs atomic.Int32
	start(t, config, nil, func(r *kube.Reconciler) {
		r.Contents = func() reconcile.Content { runs.Add(1); return content }
	})
	namespace(t, c, "runs")
	namespace(t, c, "runs-empty")
	t.Cleanup(func() { wipe(t, "runs", "runs-empty") })
	must(t, c.Create(ctx, operatorGroup("runs", "runs")))
	must(t, c.Create(ctx, subscription("runs", "runs")))
	eventually(t, 30*time.Second, func() error { return installed(c, "runs", "0.1.1") })
	time.Sleep(2 * time.Second) // what runs on its own account is over
	patch := func(o client.Object, text string) func() error {
		return func() error { return c.Patch(ctx, o, client.RawPatch("application/merge-patch+json", []byte(text))) }
	}
	const label = `{"metadata":{"labels":{"test/x":"y"}}}`
	const annotate = `{"metadata":{"annotations":{"test/x":"y"}}}`
	ns := func(name string) *corev1.Namespace {
		o := &corev1.Namespace{}
		o.Name = name
		return o
	}
	sub := subscription("runs", "runs")
	deployment := &appsv1.Deployment{}
	deployment.Name, deployment.Namespace = "widget", "runs"
	csv := &operatorsv1alpha1.ClusterServiceVersion{}
	csv.Name, csv.Namespace = "widget.v0.1.1", "runs"
	for _, e := range []struct {
		name string
		want int32
		do   func() error
	}{
		{"a namespace without OLM objects", 0, func() error { return c.Create(ctx, ns("runs-new")) }},
		{"a label of such a namespace", 0, patch(ns("runs-empty"), label)},
		{"a service account in it", 0, func() error { return c.Create(ctx, serviceAccount("runs-empty", "somebody")) }},
		{"an annotation of the namespace", 0, patch(ns("runs"), annotate)},
		{"a kind that no plan looks at", 0, func() error {
			o := &corev1.ConfigMap{}
			o.Name, o.Namespace = "something", "runs"
			return c.Create(ctx, o)
		}},
		{"the subscription", 1, patch(sub, annotate)},
		{"the operator", 1, patch(csv, label)},          // its annotations are its pods', too
		{"its deployment", 1, patch(deployment, label)}, // its annotations count for its generation
		{"a service account beside it", 1, func() error { return c.Create(ctx, serviceAccount("runs", "somebody")) }},
	} {
		before, written := runs.Load(), len(writes.list())
		must(t, e.do())
		time.Sleep(500 * time.Millisecond)
		if got := runs.Load() - before; got != e.want {
			t.Errorf("%s: %d runs, want %d; written: %v", e.name, got, e.want, writes.list()[written:])
		}
	}
}
