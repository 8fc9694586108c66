package kube_test

import (
	"context"
	"testing"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// F8: a snapshot contains the copies of other namespaces' CSVs that occupy a
// name that a copy of this namespace needs, and no others.
func TestCopiesFromElsewhere(t *testing.T) {
	c, ctx := admin(t), context.Background()
	for _, ns := range []string{"copier", "place", "aside"} {
		namespace(t, c, ns)
		t.Cleanup(func() {
			must(t, c.DeleteAllOf(ctx, &operatorsv1alpha1.ClusterServiceVersion{}, client.InNamespace(ns)))
		})
	}
	g := operatorGroup("copier", "place")
	must(t, c.Create(ctx, g))
	t.Cleanup(func() { must(t, c.Delete(ctx, g)) })
	g.Status = operatorsv1.OperatorGroupStatus{Namespaces: []string{"place"}, LastUpdated: &metav1.Time{Time: metav1.Now().Time}}
	must(t, c.Status().Update(ctx, g))
	csv := func(ns, name, from string) *operatorsv1alpha1.ClusterServiceVersion {
		v := &operatorsv1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}}
		if from != "" {
			v.Labels = map[string]string{olm.LabelCopiedFrom: from}
		}
		v.Spec.InstallStrategy.StrategyName = "deployment"
		v.Spec.InstallStrategy.StrategySpec.DeploymentSpecs = []operatorsv1alpha1.StrategyDeploymentSpec{}
		return v
	}
	standing := csv("place", "common.v1", "nowhere")
	for _, v := range []*operatorsv1alpha1.ClusterServiceVersion{
		csv("copier", "common.v1", ""), standing, csv("place", "strange.v1", "nowhere"), csv("aside", "common.v1", "nowhere"),
	} {
		must(t, c.Create(ctx, v))
	}
	read := func(t *testing.T, cluster *kube.Cluster) []string {
		t.Helper()
		s, err := cluster.Read(ctx, "copier")
		must(t, err)
		var out []string
		for _, v := range s.CSVs {
			if olm.IsCopied(v) {
				out = append(out, v.Metadata.Namespace+"/"+v.Metadata.Name+" from "+operatorgroup.CopiedFrom(v))
			}
		}
		return out
	}
	cache, start := startCache(t)
	cached := newCluster(t, cache)
	start()
	for name, cluster := range map[string]*kube.Cluster{"live": newCluster(t, nil), "cached": cached} {
		t.Run(name, func(t *testing.T) {
			if got := read(t, cluster); len(got) != 1 || got[0] != "place/common.v1 from nowhere" {
				t.Errorf("got %q", got)
			}
		})
	}
}
