package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

const exampleCatalog = `
{"schema": "olm.package", "name": "etcd", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "etcd", "name": "stable", "entries": [{"name": "etcd.v1.0.0"}]}
{"schema": "olm.bundle", "package": "etcd", "name": "etcd.v1.0.0", "image": "example.com/etcd:1.0.0",
 "properties": [{"type": "olm.package", "value": {"packageName": "etcd", "version": "1.0.0"}}]}`

const exampleObjects = `[
{"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup", "metadata": {"name": "own", "namespace": "ops"},
 "spec": {"targetNamespaces": ["ops"]}},
{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource", "metadata": {"name": "community", "namespace": "olm"}},
{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": {"name": "etcd", "namespace": "ops"},
 "spec": {"name": "etcd", "channel": "stable", "source": "community", "sourceNamespace": "olm"}}]`

// exampleWorld returns a cluster in memory and the content of its catalog.
func exampleWorld(ctx context.Context) (*memcluster.Cluster, *reconcile.Catalogs, error) {
	index, err := graph.LoadReader(ctx, strings.NewReader(exampleCatalog), "catalog.json", nil)
	if err != nil {
		return nil, nil, err
	}
	catalogs := &reconcile.Catalogs{StandIns: true} // the catalog does not contain the manifests
	catalogs.AddGraph(resolver.CatalogID{Name: "community", Namespace: "olm"}, index)
	var objects []olm.Object
	if err := json.Unmarshal([]byte(exampleObjects), &objects); err != nil {
		return nil, nil, err
	}
	c := &memcluster.Cluster{GlobalNamespace: "olm", Controllers: true}
	for _, o := range objects {
		if err := c.Put(&o); err != nil {
			return nil, nil, err
		}
	}
	return c, catalogs, nil
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

// A controller of a namespace, with everything that triggers it. Here its user approves an
// install plan in between, and it stops when the operator runs.
func ExampleLoop_controller() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, catalogs, err := exampleWorld(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster.Now = time.Now
	if err := byHand(cluster); err != nil {
		fmt.Println(err)
		return
	}
	events := cluster.Watch(ctx)
	loop := &reconcile.Loop{Cluster: cluster, Content: catalogs}
	loop.Events = func(e reconcile.Event) {
		if e.Object.Kind == olm.KindClusterServiceVersion {
			fmt.Println("event:", e.Reason)
		}
	}
	for {
		result, err := loop.Run(ctx, "ops")
		again := 15 * time.Minute // in case an event was missed
		switch {
		case ctx.Err() != nil:
			fmt.Println(ctx.Err())
			return
		case errors.Is(err, reconcile.ErrUnavailable), errors.Is(err, reconcile.ErrPending):
			again = time.Second // and longer each time
		case errors.Is(err, reconcile.ErrUnsettled):
			again = time.Minute // another writer reverts the changes: a person should look
		case err != nil:
			again = 20 * time.Second
			for _, refused := range result.Refused { // also in the status of their objects
				fmt.Println(refused)
			}
		case !result.Plan.Due.IsZero():
			again = min(again, time.Until(result.Plan.Due))
		}
		if done, err := approveAll(cluster); done || err != nil {
			fmt.Println("done:", err)
			return
		}
		select {
		case <-events:
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
	// Output:
	// event: AllRequirementsMet
	// event: InstallSucceeded
	// done: <nil>
}

// byHand sets the subscriptions of a cluster to manual approval.
func byHand(cluster *memcluster.Cluster) error {
	for _, o := range cluster.List() {
		if o.Kind != olm.KindSubscription {
			continue
		}
		s, err := olm.As[olm.Subscription](o)
		if err != nil {
			return err
		}
		s.Spec.InstallPlanApproval = olm.Manual
		if err := cluster.Put(s); err != nil {
			return err
		}
	}
	return nil
}

// approveAll simulates the user: it approves install plans that require it, and reports
// whether the operator has succeeded.
func approveAll(cluster *memcluster.Cluster) (done bool, err error) {
	for _, o := range cluster.List() {
		switch o.Kind {
		case olm.KindInstallPlan:
			ip, err := olm.As[olm.InstallPlan](o)
			if err != nil {
				return false, err
			}
			if ip.Spec.Approved || ip.Status.Phase != olm.PlanRequiresApproval {
				continue
			}
			ip.Spec.Approved = true
			if err := cluster.Put(ip); err != nil {
				return false, err
			}
		case olm.KindClusterServiceVersion:
			csv, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				return false, err
			}
			done = csv.Status.Phase == olm.PhaseSucceeded
		}
	}
	return done, nil
}

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
