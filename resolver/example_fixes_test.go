package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// Fixes are the smallest changes that resolve a conflict. Each was verified by solving the
// changed problem.
func ExampleCore_Fixes() {
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
	fixes, err := no.Cores[0].Fixes(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range fixes {
		fmt.Printf("%s: %s\n", f.Changes[0].Kind, f)
	}
	// Output:
	// drop-subscription: delete subscription etcd
	// remove-operator: uninstall etcd-legacy.v0.8.0; then etcd.v0.9.4 is installed
}
