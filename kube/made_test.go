package kube_test

import (
	"context"
	"slices"
	"testing"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/olm"
)

// E40: a snapshot has the objects that a failed install plan did not create, if somebody else
// created them, as long as the CSV of the plan waits for them.
func TestObjectsOfFailedPlan(t *testing.T) {
	const ns = "completed-by-hand"
	c, ctx := admin(t), context.Background()
	namespace(t, c, ns)
	t.Cleanup(func() { wipe(t, ns) })
	strategy := operatorsv1alpha1.NamedInstallStrategy{StrategyName: "deployment"}
	strategy.StrategySpec.DeploymentSpecs = []operatorsv1alpha1.StrategyDeploymentSpec{}
	csv := &operatorsv1alpha1.ClusterServiceVersion{
		ObjectMeta: metav1.ObjectMeta{Name: "things.v1", Namespace: ns},
		Spec:       operatorsv1alpha1.ClusterServiceVersionSpec{DisplayName: "Things", InstallStrategy: strategy},
	}
	must(t, c.Create(ctx, csv))
	plan := &operatorsv1alpha1.InstallPlan{
		ObjectMeta: metav1.ObjectMeta{Name: "plan", Namespace: ns},
		Spec:       operatorsv1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{csv.Name}, Approval: operatorsv1alpha1.ApprovalAutomatic, Approved: true},
	}
	must(t, c.Create(ctx, plan))
	step := &operatorsv1alpha1.Step{Resolving: csv.Name, Status: operatorsv1alpha1.StepStatusUnknown, Resource: operatorsv1alpha1.StepResource{
		Version: "v1", Kind: "ConfigMap", Name: "settings", Manifest: `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}`,
	}}
	plan.Status = operatorsv1alpha1.InstallPlanStatus{Phase: operatorsv1alpha1.InstallPlanPhaseFailed, Plan: []*operatorsv1alpha1.Step{step}, CatalogSources: []string{}}
	must(t, c.Status().Update(ctx, plan))
	must(t, c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: ns}}))
	config, _ := restricted(t)
	cluster, err := kube.NewCluster(ctx, config, kube.ClusterOptions{})
	must(t, err)
	for _, phase := range []operatorsv1alpha1.ClusterServiceVersionPhase{operatorsv1alpha1.CSVPhasePending, operatorsv1alpha1.CSVPhaseSucceeded} {
		csv.Status.Phase = phase
		must(t, c.Status().Update(ctx, csv))
		s, err := cluster.Read(ctx, ns)
		must(t, err)
		got := slices.ContainsFunc(s.Objects, func(o olm.Object) bool { return o.Key() == olm.Key{Kind: "ConfigMap", Namespace: ns, Name: "settings"} })
		if want := phase == operatorsv1alpha1.CSVPhasePending; got != want {
			t.Errorf("the CSV is %s: the snapshot has the ConfigMap: %v, want %v", phase, got, want)
		}
	}
}
