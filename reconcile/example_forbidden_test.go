package reconcile_test

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A cluster in memory that refuses changes that the service account of the operator group
// may not make: here all of them.
func ExampleForbidden() {
	ctx := context.Background()
	cluster, catalogs, err := exampleWorld(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	group := &olm.OperatorGroup{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperatorGroup, Metadata: olm.Metadata{Name: "own", Namespace: "ops"}}}
	group.Spec.TargetNamespaces, group.Spec.ServiceAccountName = []string{"ops"}, "installer"
	account := &olm.Object{Header: olm.Header{APIVersion: "v1", Kind: "ServiceAccount", Metadata: olm.Metadata{Name: "installer", Namespace: "ops"}}}
	if err := cluster.Put(group, account); err != nil {
		fmt.Println(err)
		return
	}
	cluster.Admit = func(c reconcile.Change) error {
		s, err := cluster.Read(ctx, c.For.Namespace)
		if err != nil {
			return err
		}
		return reconcile.Forbidden(s, &c)
	}
	loop := reconcile.Loop{Cluster: cluster, Content: catalogs}
	result, _ := loop.Run(ctx, "ops")
	for _, e := range result.Refused {
		fmt.Println(e.Err)
	}
	// Output:
	// clusterserviceversions.operators.coreos.com "etcd.v1.0.0" is forbidden: User "system:serviceaccount:ops:installer" cannot create resource "clusterserviceversions" in API group "operators.coreos.com" in the namespace "ops"
}
