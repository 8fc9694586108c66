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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// G3: the API server is unavailable for longer than a run waits. When it is back, the same
// process does the outstanding work.
func TestOutage(t *testing.T) {
	c, ctx := admin(t), context.Background()
	versions := []string{"0.1.1", "0.1.2", "0.1.3"}
	before := catalogs(t, c, "outage", widgetsOf(t, "light.csv.yaml", versions[:1]))
	after := contentOf(t, "outage", widgetsOf(t, "light.csv.yaml", versions))
	playDeployments(t)
	config, _ := restricted(t)
	var current atomic.Pointer[reconcile.Catalogs]
	var runs atomic.Int32
	current.Store(before)
	changed := make(chan event.GenericEvent)
	start(t, config, nil, func(r *kube.Reconciler) {
		r.Contents = func() reconcile.Content { runs.Add(1); return current.Load() }
		r.Catalogs = changed
	})
	namespace(t, c, "outage")
	t.Cleanup(func() { wipe(t, "outage") })
	must(t, c.Create(ctx, operatorGroup("outage", "outage")))
	must(t, c.Create(ctx, subscription("outage", "outage")))
	eventually(t, patience, func() error { return installed(c, "outage", "0.1.1") })

	must(t, env.KillAPIServer())
	restarted := false
	defer func() {
		if !restarted { // later tests need the server
			must(t, env.StartAPIServer())
		}
	}()
	current.Store(after)
	src := &unstructured.Unstructured{}
	src.SetGroupVersionKind(operatorsv1alpha1.SchemeGroupVersion.WithKind(operatorsv1alpha1.CatalogSourceKind))
	src.SetName("outage")
	src.SetNamespace(globalNamespace)
	changed <- event.GenericEvent{Object: src}
	begin, first := time.Now(), runs.Load()
	// Each run fails and the delays grow: the ninth run starts after more than ten seconds.
	eventually(t, patience, func() error {
		if n := runs.Load() - first; n < 9 {
			return fmt.Errorf("%d runs without an API server", n)
		}
		return nil
	})
	t.Logf("without an API server for %s", time.Since(begin).Round(time.Second))
	restarted = true
	must(t, env.StartAPIServer())
	eventually(t, patience, func() error { return installed(c, "outage", "0.1.3") })
	eventually(t, patience, func() error { return only(c, "outage", "widget.v0.1.3") })
}
