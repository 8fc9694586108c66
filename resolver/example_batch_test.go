package resolver_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// Resolves many namespaces over one catalog, each with separate subscriptions.
func ExampleResolveAll() {
	ctx := context.Background()
	cat, err := graph.LoadReader(ctx, strings.NewReader(`
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries: [{name: etcd.v1.0.0}]
---
schema: olm.bundle
package: etcd
name: etcd.v1.0.0
image: quay.io/etcd:v1.0.0
properties: [{type: olm.package, value: {packageName: etcd, version: 1.0.0}}]
`), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	var fleet []resolver.Problem
	for _, pkg := range []string{"etcd", "vault"} {
		fleet = append(fleet, resolver.Problem{
			Namespace:     "team-" + pkg,
			Catalogs:      []resolver.Catalog{{Name: "main", Namespace: "olm", Graph: cat}},
			Subscriptions: []resolver.Subscription{{Package: pkg}},
		})
	}
	i := 0
	for r := range resolver.ResolveAll(ctx, slices.Values(fleet), nil) {
		fmt.Printf("%s: ", fleet[i].Namespace)
		if r.Err != nil {
			fmt.Println("no solution")
		} else {
			fmt.Println(r.Solution.Selected[0].Name)
		}
		i++
	}
	// Output:
	// team-etcd: etcd.v1.0.0
	// team-vault: no solution
}
