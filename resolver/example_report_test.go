package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// Why a request cannot be satisfied, and what would fix it.
func ExampleConflict_Report() {
	ctx := context.Background()
	catalog, err := graph.LoadBytes(ctx, []byte(argocd), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = resolver.Resolve(ctx, resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "etcd", Channel: "stable"}},
		Installed:     []resolver.Installed{{Name: "etcd.v0.9.0", Version: "0.9.0", Package: "etcd"}},
	})
	var conflict *resolver.Conflict
	if !errors.As(err, &conflict) {
		log.Fatal(err)
	}
	report, err := conflict.Report(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Text(80, nil))
	// Output:
	// subscription etcd cannot be satisfied: both versions in channel stable of
	// package etcd conflict with the installed etcd.v0.9.0: a namespace can hold only
	// one version of package etcd
	//   - the installed etcd.v0.9.0 is an orphan: it is installed without a
	//     subscription and must stay as it is
	// possible fixes, least disruptive first:
	//   1. adopt etcd.v0.9.0: create a subscription to package etcd that owns it, so
	//      that it can be upgraded; then etcd.v0.9.4 is installed
	//   2. delete subscription etcd
	//   3. uninstall etcd.v0.9.0; then etcd.v0.9.4 is installed
}
