package resolver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// A solution explains why each bundle is in it, and why others are not.
func ExampleSolution_Why() {
	ctx := context.Background()
	catalog, err := graph.LoadBytes(ctx, []byte(argocd), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	sol, err := resolver.Resolve(ctx, resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "argocd"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	chains, err := sol.Why(ctx, "etcd.v0.9.4")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(chains[0].Text(80, nil))
	fmt.Println()
	not, err := sol.WhyNot(ctx, "etcd.v0.9.0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(not.Text(80, nil))
	// Output:
	// etcd.v0.9.4 satisfies API EtcdCluster (etcd.example.com/v1beta2), required by
	// argocd.v0.6.0
	//   at community catalog.yaml:39, property 1
	//   it is the preferred one of 2 options
	// argocd.v0.6.0 was chosen for subscription argocd
	//
	// etcd.v0.9.0 (community/olm, channel stable) is possible, but argocd.v0.6.0
	// prefers etcd.v0.9.4: it is closer to the head of channel stable
	//   at community catalog.yaml:13
}
