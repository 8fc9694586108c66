package reconcile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

const planCatalog = `
{"schema": "olm.package", "name": "etcd", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "etcd", "name": "stable", "entries": [{"name": "etcd.v1.0.0"}]}
{"schema": "olm.bundle", "package": "etcd", "name": "etcd.v1.0.0", "image": "example.com/etcd:1.0.0",
 "properties": [{"type": "olm.package", "value": {"packageName": "etcd", "version": "1.0.0"}}]}`

const planObjects = `[
{"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": "all", "namespace": "operators"}},
{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": {"name": "community", "namespace": "olm"}},
{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": {"name": "etcd", "namespace": "operators"},
 "spec": {"name": "etcd", "channel": "stable", "source": "community", "sourceNamespace": "olm"}}]`

// What would happen next, and why: the next writes, from the objects of a cluster in JSON.
func ExampleDecide() {
	ctx := context.Background()
	index, err := graph.LoadReader(ctx, strings.NewReader(planCatalog), "catalog.json", nil) // or graph.Load
	if err != nil {
		log.Fatal(err)
	}
	catalogs := &reconcile.Catalogs{StandIns: true} // for a dry run: the manifests are in the image
	catalogs.AddGraph(resolver.CatalogID{Name: "community", Namespace: "olm"}, index)
	var objects []olm.Object
	if err := json.Unmarshal([]byte(planObjects), &objects); err != nil {
		log.Fatal(err)
	}
	snapshot, err := reconcile.NewSnapshot("operators", "olm", objects)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := reconcile.Decide(ctx, snapshot, catalogs, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range plan.Changes {
		fmt.Println(c)
	}
	// Output:
	// update status OperatorGroup operators/all: the group targets all namespaces (F1)
	// create ClusterRole all-admin: grants permissions to users of the group (F7)
	// create ClusterRole all-edit: grants permissions to users of the group (F7)
	// create ClusterRole all-view: grants permissions to users of the group (F7)
	// create InstallPlan operators/install-2163f99f3d: installs etcd.v1.0.0
	// update Subscription operators/etcd: gets the labels of its operators (E30)
}
