package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// legacy is an operator that somebody installed without a subscription.
func legacy() resolver.Installed {
	return resolver.Installed{Name: "etcd-legacy.v0.8.0", Version: "0.8.0", Package: "etcd-legacy", Properties: []property.Property{
		{Type: property.TypeGVK, Value: []byte(`{"group":"etcd.example.com","version":"v1beta2","kind":"EtcdCluster"}`)},
	}}
}

// A conflict shows how the requests lead to a contradiction. Its cores are minimal: without any one of their facts the others can hold.
func ExampleConflict() {
	ctx := context.Background()
	catalog, err := graph.LoadBytes(ctx, []byte(argocd), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = resolver.Resolve(ctx, resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "etcd"}},
		Installed:     []resolver.Installed{legacy()},
	})
	var no *resolver.Conflict
	if !errors.As(err, &no) {
		log.Fatal(err)
	}
	for _, f := range no.Cores[0].Facts {
		fmt.Printf("%s: %s\n", f.Code(), f)
	}
	d, err := no.Cores[0].Derive(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println()
	fmt.Print(d.Text(80, nil))
	// Output:
	// subscribed: subscription etcd requests package etcd: etcd.v0.9.4 or etcd.v0.9.0
	// must-stay: etcd-legacy.v0.8.0 is installed without a subscription and must stay
	// one-provider: a namespace can hold only one provider of EtcdCluster (etcd.example.com/v1beta2): etcd-legacy.v0.8.0, etcd.v0.9.0 or etcd.v0.9.4
	//
	// subscription etcd cannot be satisfied: both versions of package etcd conflict
	// with the installed etcd-legacy.v0.8.0: all provide EtcdCluster
	// (etcd.example.com/v1beta2)
	//   - the installed etcd-legacy.v0.8.0 is an orphan: it is installed without a
	//     subscription and must stay as it is
}
