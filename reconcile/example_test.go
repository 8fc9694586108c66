package reconcile_test

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

const exampleCatalog = `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries: [{name: etcd.v1.0.0}]
---
schema: olm.bundle
package: etcd
name: etcd.v1.0.0
image: example.com/etcd:1.0.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}
`

func exampleWorld(ctx context.Context) (*memcluster.Cluster, *reconcile.Catalogs, error) {
	blobs, err := fbc.LoadBytes(ctx, []byte(exampleCatalog), "catalog.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		return nil, nil, err
	}
	catalogs := &reconcile.Catalogs{StandIns: true} // the catalog does not carry the manifests
	if err := catalogs.Add(ctx, resolver.CatalogID{Name: "community", Namespace: "olm"}, blobs); err != nil {
		return nil, nil, err
	}
	group := &olm.OperatorGroup{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperatorGroup, Metadata: olm.Metadata{Name: "own", Namespace: "ops"}}}
	group.Spec.TargetNamespaces = []string{"ops"}
	source := &olm.CatalogSource{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindCatalogSource, Metadata: olm.Metadata{Name: "community", Namespace: "olm"}}}
	sub := &olm.Subscription{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindSubscription, Metadata: olm.Metadata{Name: "etcd", Namespace: "ops"}}}
	sub.Spec = olm.SubscriptionSpec{Package: "etcd", Channel: "stable", Source: "community", SourceNamespace: "olm"}
	c := &memcluster.Cluster{GlobalNamespace: "olm", Controllers: true}
	return c, catalogs, c.Put(group, source, sub)
}

// What would happen next, and why.
func ExampleDecide() {
	ctx := context.Background()
	cluster, catalogs, err := exampleWorld(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot, err := cluster.Read(ctx, "ops")
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := reconcile.Decide(ctx, snapshot, catalogs, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Changes {
		if c.Object.Kind != "ClusterRole" {
			fmt.Println(&c)
		}
	}
	// Output:
	// update status OperatorGroup ops/own: the group targets ops (F1)
	// create InstallPlan ops/install-1a80955aab: installs etcd.v1.0.0
	// update status Subscription ops/etcd: CatalogSourcesUnhealthy is False, AllCatalogSourcesHealthy
}

// Run a loop to its end.
func ExampleLoop() {
	ctx := context.Background()
	cluster, catalogs, err := exampleWorld(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	loop := reconcile.Loop{Cluster: cluster, Content: catalogs}
	if _, err := loop.Run(ctx, "ops"); err != nil {
		fmt.Println(err)
		return
	}
	o, err := cluster.Get(olm.Key{Group: olm.Group, Kind: olm.KindClusterServiceVersion, Namespace: "ops", Name: "etcd.v1.0.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	csv, err := olm.As[olm.ClusterServiceVersion](o)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(csv.Metadata.Name, csv.Status.Phase)
	// Output: etcd.v1.0.0 Succeeded
}
