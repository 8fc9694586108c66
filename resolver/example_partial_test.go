package resolver_test

import (
	"context"
	"fmt"
	"log"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// With Partial, the independent parts of a namespace that have a solution are planned, and
// the others are reported.
func ExampleOptions_partial() {
	ctx := context.Background()
	catalog, err := graph.LoadBytes(ctx, []byte(argocd), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	sol, err := resolver.Resolve(ctx, resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "argocd"}, {Package: "vault"}},
		Options:       resolver.Options{Partial: true},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sol.Selected {
		fmt.Println("install", s.Name)
	}
	planned, refused := sol.Refused.Subscriptions()
	fmt.Println("planned", planned, "refused", refused)
	fmt.Println(sol.Refused)
	// Output:
	// install argocd.v0.6.0
	// install etcd.v0.9.4
	// planned [argocd] refused [vault]
	// no solution in namespace "operators": subscription vault cannot be satisfied: no catalog has package vault
}
