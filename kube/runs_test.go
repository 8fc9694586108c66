package kube_test

import (
	"context"
	"fmt"
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

// An event triggers one run for each namespace whose plan it can change, and no other runs.
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
	eventually(t, patience, func() error { return installed(c, "runs", "0.1.1") })
	// settled waits until no run has started for a second.
	settled := func() {
		t.Helper()
		eventually(t, patience, func() error {
			before := runs.Load()
			time.Sleep(time.Second)
			if n := runs.Load() - before; n > 0 {
				return fmt.Errorf("%d more runs", n)
			}
			return nil
		})
	}
	settled()
	n := 0
	// change returns a function that changes a label or an annotation to a new value at
	// each call.
	change := func(o client.Object, member string) func() error {
		return func() error {
			n++
			return c.Patch(ctx, o, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{%q:{"test/x":"%d"}}}`, member, n)))
		}
	}
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
	account := func(ns, name string) func() error {
		return func() error { return c.Create(ctx, serviceAccount(ns, name)) }
	}
	namespaceOf := change(ns("runs"), "labels")
	for _, e := range []struct {
		name string
		do   func() error
		// wakes, if the event must not trigger a run, causes a later event in the same
		// watch that triggers one. After that run, the first event can no longer trigger
		// any.
		wakes func() error
	}{
		{"a namespace without OLM objects", func() error { return c.Create(ctx, ns("runs-new")) }, namespaceOf},
		{"a label of such a namespace", change(ns("runs-empty"), "labels"), namespaceOf},
		{"a service account in it", account("runs-empty", "somebody"), account("runs", "another")},
		{"an annotation of the namespace", change(ns("runs"), "annotations"), namespaceOf},
		{"a kind that no plan reads", func() error {
			o := &corev1.ConfigMap{}
			o.Name, o.Namespace = "something", "runs"
			return c.Create(ctx, o)
		}, change(sub, "annotations")},
		{"the subscription", change(sub, "annotations"), nil},
		{"the operator", change(csv, "labels"), nil},          // its annotations are copied to the pods
		{"its deployment", change(deployment, "labels"), nil}, // changed annotations increase its generation
		{"a service account in its namespace", account("runs", "somebody"), nil},
	} {
		before, written := runs.Load(), len(writes.list())
		must(t, e.do())
		if e.wakes != nil {
			time.Sleep(500 * time.Millisecond) // so that two runs are not merged
			must(t, e.wakes())
		}
		eventually(t, patience, func() error {
			if runs.Load() == before {
				return fmt.Errorf("%s: there was no run", e.name)
			}
			return nil
		})
		settled()
		if got := runs.Load() - before; got != 1 {
			t.Errorf("%s: %d runs, want 1; written: %v", e.name, got, writes.list()[written:])
		}
	}
}
