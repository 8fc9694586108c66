package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

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
		again := 15 * time.Minute // in case that an event was missed
		switch {
		case ctx.Err() != nil:
			fmt.Println(ctx.Err())
			return
		case errors.Is(err, reconcile.ErrUnavailable), errors.Is(err, reconcile.ErrPending):
			again = time.Second // and longer each time
		case errors.Is(err, reconcile.ErrUnsettled):
			again = time.Minute // somebody undoes it: a person should look
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
	// event: RequirementsUnknown
	// event: AllRequirementsMet
	// event: InstallSucceeded
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
