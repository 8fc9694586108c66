package resolver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// Policies pin, hold and exclude packages. Explanations show the reason.
func ExamplePolicy() {
	ctx := context.Background()
	catalog, err := graph.LoadBytes(ctx, []byte(argocd), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	p := resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "argocd"}},
		Policies:      []resolver.Policy{{Package: "etcd", Exclude: ">=0.9.4", Reason: "loses data, see OPS-12"}},
	}
	sol, err := resolver.Resolve(ctx, p)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sol.Selected {
		fmt.Println(s.Name)
	}
	p.Policies = []resolver.Policy{{Package: "etcd", Hold: true, Reason: "change freeze"}}
	_, err = resolver.Resolve(ctx, p)
	fmt.Println(err)
	// Output:
	// argocd.v0.6.0
	// etcd.v0.9.0
	// no solution in namespace "operators": subscription argocd cannot be satisfied: argocd.v0.6.0, the only version of package argocd, requires API EtcdCluster (etcd.example.com/v1beta2), but a policy blocks every bundle that satisfies it: package etcd is on hold (change freeze)
}
