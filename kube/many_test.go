package kube_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	"golang.org/x/sync/errgroup"
)

// lightWidgets returns a catalog whose operator needs no permissions, so that
// the test does not spend its time on the API server's writes of roles.
func lightWidgets(t *testing.T) *fbc.Catalog {
	return widgetsOf(t, "light.csv.yaml", []string{"0.1.1"})
}

var fleetSize = flag.Int("fleet", 0, "number of namespaces of TestManyNamespaces (default: depends on the test size)")

// Two replicas install an operator in many namespaces at once.
func TestManyNamespaces(t *testing.T) {
	namespaces := cmp.Or(*fleetSize, testsize.Of(100, 300, 1000))
	c, ctx := admin(t), context.Background()
	content := catalogs(t, c, "many", lightWidgets(t))
	names := make([]string, namespaces)
	for i := range names {
		names[i] = fmt.Sprintf("many-%d", i)
	}
	t.Cleanup(func() { wipe(t, names...) }) // after the managers have stopped
	playDeployments(t)
	config, requests := restricted(t)
	for i := range 2 {
		start(t, config, content, func(r *kube.Reconciler) {
			r.Shard = kube.Shard{Index: i, Count: 2}
			r.Concurrency = 8
		})
	}
	var g errgroup.Group
	g.SetLimit(16)
	for _, ns := range names {
		g.Go(func() error {
			namespace(t, c, ns)
			if err := c.Create(ctx, operatorGroup(ns, ns)); err != nil {
				return err
			}
			return c.Create(ctx, subscription(ns, "many"))
		})
	}
	must(t, g.Wait())
	eventually(t, 25*time.Minute, func() error {
		time.Sleep(3 * time.Second)
		list := &operatorsv1alpha1.ClusterServiceVersionList{}
		if err := c.List(ctx, list); err != nil {
			return err
		}
		phases := map[operatorsv1alpha1.ClusterServiceVersionPhase]int{}
		for _, v := range list.Items {
			if !strings.HasPrefix(v.Namespace, "many-") {
				continue
			}
			phases[v.Status.Phase]++
		}
		if phases[operatorsv1alpha1.CSVPhaseSucceeded] != namespaces {
			return fmt.Errorf("%v", phases)
		}
		return nil
	})
	t.Logf("%d writes in %d namespaces", len(requests.list()), namespaces)
}
