package kube_test

import (
	"context"
	"slices"
	"testing"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/property"
)

// E38: a snapshot lists the APIs that CSVs require and that the API server serves, by version
// and kind. The permissions of Rules suffice.
func TestServedAPIs(t *testing.T) {
	c, ctx := admin(t), context.Background()
	namespace(t, c, "discovery")
	t.Cleanup(func() { wipe(t, "discovery") })
	strategy := operatorsv1alpha1.NamedInstallStrategy{StrategyName: "deployment"}
	strategy.StrategySpec.DeploymentSpecs = []operatorsv1alpha1.StrategyDeploymentSpec{}
	must(t, c.Create(ctx, &operatorsv1alpha1.ClusterServiceVersion{
		ObjectMeta: metav1.ObjectMeta{Name: "things.v1", Namespace: "discovery"},
		Spec: operatorsv1alpha1.ClusterServiceVersionSpec{
			DisplayName: "Things", InstallStrategy: strategy,
			NativeAPIs: []metav1.GroupVersionKind{
				{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "Robot"},
				{Group: "apps", Version: "v9", Kind: "Deployment"}, {Group: "example.net", Version: "v1", Kind: "Robot"},
				{Version: "v1", Kind: "Pod"},
			},
			APIServiceDefinitions: operatorsv1alpha1.APIServiceDefinitions{Required: []operatorsv1alpha1.APIServiceDescription{
				{Name: "roles", Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Name: "robots", Group: "example.net", Version: "v2", Kind: "Robot"},
			}},
		},
	}))
	config, _ := restricted(t)
	cluster, err := kube.NewCluster(ctx, config, kube.ClusterOptions{})
	must(t, err)
	for range 2 { // the second time, APIs that are served come from a cache
		s, err := cluster.Read(ctx, "discovery")
		must(t, err)
		want := []property.GVK{{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}, {Group: "apps", Version: "v1", Kind: "Deployment"}, {Version: "v1", Kind: "Pod"}}
		if !slices.Equal(s.Served, want) {
			t.Errorf("served: %v, want %v", s.Served, want)
		}
	}
}
