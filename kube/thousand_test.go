package kube_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	"golang.org/x/sync/errgroup"
)

// lightWidgets returns a catalog whose operator needs no permissions: what it
// takes is measured, not the API server's writing of roles.
func lightWidgets(t *testing.T) *fbc.Catalog {
	return widgetsOf(t, "light.csv.yaml", []string{"0.1.1"})
}

// A thousand namespaces that want an operator at once, shared by two replicas.
func TestThousandNamespaces(t *testing.T) {
	namespaces := 1000
	if testing.Short() {
		namespaces = 100
	}
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "thousand", lightWidgets(t))
	playDeployments(t)
	for i := range 2 {
		start(t, env.Config, content, func(r *kube.Reconciler) {
			r.Shard = kube.Shard{Index: i, Count: 2}
			r.Concurrency = 8
		})
	}
	begin := time.Now()
	var g errgroup.Group
	g.SetLimit(16)
	for i := range namespaces {
		g.Go(func() error {
			ns := fmt.Sprintf("thousand-%d", i)
			namespace(t, c, ns)
			if err := c.Create(ctx, operatorGroup(ns, ns)); err != nil {
				return err
			}
			return c.Create(ctx, subscription(ns, "thousand"))
		})
	}
	must(t, g.Wait())
	t.Logf("created in %s", time.Since(begin).Round(time.Second))
	eventually(t, 8*time.Minute, func() error {
		time.Sleep(3 * time.Second)
		list := &operatorsv1alpha1.ClusterServiceVersionList{}
		if err := c.List(ctx, list); err != nil {
			return err
		}
		phases := map[operatorsv1alpha1.ClusterServiceVersionPhase]int{}
		for _, v := range list.Items {
			phases[v.Status.Phase]++
		}
		if phases[operatorsv1alpha1.CSVPhaseSucceeded] != namespaces {
			return fmt.Errorf("%v", phases)
		}
		return nil
	})
	t.Logf("all succeeded after %s", time.Since(begin).Round(time.Second))
}
