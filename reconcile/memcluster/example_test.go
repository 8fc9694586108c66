package memcluster_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// A cluster whose API server fails at the second write. A loop over it shows how a program
// handles that.
func Example() {
	ctx := context.Background()
	writes := 0
	cluster := &memcluster.Cluster{
		GlobalNamespace: "olm",
		Intercept: func(c reconcile.Change, apply func() error) error {
			if writes++; writes == 2 {
				return fmt.Errorf("%w: the network is down", reconcile.ErrUnavailable)
			}
			return apply()
		},
	}
	group := &olm.OperatorGroup{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperatorGroup, Metadata: olm.Metadata{Name: "own", Namespace: "ops"}}}
	group.Spec.TargetNamespaces = []string{"ops"}
	if err := cluster.Put(group); err != nil {
		fmt.Println(err)
		return
	}
	loop := &reconcile.Loop{Cluster: cluster, Content: &reconcile.Catalogs{}}
	_, err := loop.Run(ctx, "ops")
	fmt.Println("first:", errors.Is(err, reconcile.ErrUnavailable))
	_, err = loop.Run(ctx, "ops")
	fmt.Println("second:", err)
	// Output:
	// first: true
	// second: <nil>
}
