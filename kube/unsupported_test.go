package kube_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/reconcile"
)

// E38: a CSV with a part that would not be run fails with the path of that part, and nothing is
// created for it. Once the part is corrected, the operator is installed.
func TestUnsupportedPart(t *testing.T) {
	const ns = "unsupported"
	c, ctx := admin(t), context.Background()
	playDeployments(t)
	config, _ := restricted(t)
	start(t, config, &reconcile.Catalogs{})
	namespace(t, c, ns)
	t.Cleanup(func() { wipe(t, ns) })
	must(t, c.Create(ctx, operatorGroup(ns, ns)))
	deployment := func(name string) operatorsv1alpha1.StrategyDeploymentSpec {
		labels := map[string]string{"app": name}
		return operatorsv1alpha1.StrategyDeploymentSpec{Name: name, Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "example.com/a"}}},
			},
		}}
	}
	csv := &operatorsv1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Name: "things.v1", Namespace: ns}}
	csv.Spec.DisplayName = "Things"
	csv.Spec.InstallModes = []operatorsv1alpha1.InstallMode{{Type: operatorsv1alpha1.InstallModeTypeOwnNamespace, Supported: true}}
	csv.Spec.InstallStrategy.StrategyName = "deployment"
	strategy := &csv.Spec.InstallStrategy.StrategySpec
	strategy.DeploymentSpecs = []operatorsv1alpha1.StrategyDeploymentSpec{deployment("a"), deployment("a")}
	strategy.Permissions = []operatorsv1alpha1.StrategyDeploymentPermissions{{
		ServiceAccountName: "default", Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}},
	}}
	must(t, c.Create(ctx, csv))
	reaches := func(phase operatorsv1alpha1.ClusterServiceVersionPhase, message string) func() error {
		return func() error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(csv), csv); err != nil {
				return err
			}
			if csv.Status.Phase != phase || !strings.Contains(csv.Status.Message, message) {
				return fmt.Errorf("the CSV is %s: %s", csv.Status.Phase, csv.Status.Message)
			}
			return nil
		}
	}
	eventually(t, patience, reaches(operatorsv1alpha1.CSVPhaseFailed, `/spec/install/spec/deployments/1: there are two deployments "a"`))
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}} {
		must(t, c.List(ctx, list, client.InNamespace(ns), client.MatchingLabels{"olm.owner": csv.Name}))
		if apimeta.LenList(list) > 0 {
			t.Errorf("created for the CSV: %+v", list)
		}
	}
	for _, condition := range csv.Status.Conditions {
		if condition.Phase != operatorsv1alpha1.CSVPhasePending && condition.Phase != operatorsv1alpha1.CSVPhaseFailed {
			t.Errorf("the CSV was %s", condition.Phase)
		}
	}
	csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[1] = deployment("b")
	csv.Spec.InstallStrategy.StrategySpec.Permissions = nil
	must(t, c.Update(ctx, csv))
	eventually(t, patience, reaches(operatorsv1alpha1.CSVPhaseSucceeded, ""))
}
