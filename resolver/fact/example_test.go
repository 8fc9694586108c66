package fact_test

import (
	"context"
	"errors"
	"fmt"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A conflict as data: a list of facts, at least one of which has to change.
func Example() {
	catalog, err := graph.Load(context.Background(), fstest.MapFS{"catalog.yaml": {Data: []byte(`
schema: olm.package
name: shop
defaultChannel: stable
---
schema: olm.channel
package: shop
name: stable
entries: [{name: shop.v1.0.0}]
---
schema: olm.bundle
package: shop
name: shop.v1.0.0
image: quay.io/example/shop:v1.0.0
properties:
  - {type: olm.package, value: {packageName: shop, version: 1.0.0}}
  - {type: olm.package.required, value: {packageName: db, versionRange: ">=2.0.0"}}
`)}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = resolver.Resolve(context.Background(), resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "shop"}},
	})
	var conflict *resolver.Conflict
	if !errors.As(err, &conflict) {
		fmt.Println(err)
		return
	}
	for _, f := range conflict.Cores[0].Facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			fmt.Println("subscription", f.Subscription.Name, "has", len(f.Candidates), "candidate")
		case *fact.Requires:
			fmt.Println(f.Bundle.Name, "requires", f.Requirement, "at", f.Pos)
		}
	}
	// Output:
	// subscription shop has 1 candidate
	// shop.v1.0.0 requires package db >=2.0.0 at catalog.yaml:11
}
