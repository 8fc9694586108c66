package resolver_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// Two operators that require each other at the same version. Neither can be upgraded alone.
const pair = `
schema: olm.package
name: server
defaultChannel: stable
---
schema: olm.channel
package: server
name: stable
entries:
- name: server.v1
- {name: server.v2, replaces: server.v1}
---
schema: olm.bundle
package: server
name: server.v2
image: example.com/server:2
properties:
- {type: olm.package, value: {packageName: server, version: 2.0.0}}
- {type: olm.package.required, value: {packageName: client, versionRange: '>=2.0.0'}}
---
schema: olm.bundle
package: server
name: server.v1
image: example.com/server:1
properties:
- {type: olm.package, value: {packageName: server, version: 1.0.0}}
---
schema: olm.package
name: client
defaultChannel: stable
---
schema: olm.channel
package: client
name: stable
entries:
- {name: client.v2, replaces: client.v1}
---
schema: olm.bundle
package: client
name: client.v2
image: example.com/client:2
properties:
- {type: olm.package, value: {packageName: client, version: 2.0.0}}
- {type: olm.package.required, value: {packageName: server, versionRange: '>=2.0.0'}}
`

// installed returns an installed operator at version 1 that requires the other
// one at version 1.
func installed(pkg, other string) resolver.Installed {
	return resolver.Installed{
		Name: pkg + ".v1", Version: "1.0.0", Package: pkg,
		Properties: []property.Property{
			property.New(property.TypePackage, property.Package{PackageName: pkg, Version: "1.0.0"}),
			property.New(property.TypePackageRequired, property.PackageRequired{PackageName: other, VersionRange: "<2.0.0"}),
		},
	}
}

// Operators that require each other are upgraded together. If one of them has no subscription, the other one stays,
// and the solution states why.
func ExampleResolve_together() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(pair), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	problem := resolver.Problem{
		Namespace: "operators",
		Catalogs:  []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{
			{Package: "server", InstalledCSV: "server.v1"},
			{Package: "client", InstalledCSV: "client.v1"},
		},
		Installed: []resolver.Installed{installed("server", "client"), installed("client", "server")},
	}
	for _, subscriptions := range [][]resolver.Subscription{problem.Subscriptions, problem.Subscriptions[:1]} {
		problem.Subscriptions = subscriptions
		sol, err := resolver.Resolve(ctx, problem)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("with %d subscriptions:\n", len(subscriptions))
		for _, s := range sol.Selected {
			fmt.Printf("  %s replaces %s\n", s.Name, s.Replaces)
		}
		for _, s := range sol.Stayed {
			fmt.Printf("  %s stays: %s\n", s.Name, s.Reason)
		}
	}
	// Output:
	// with 2 subscriptions:
	//   client.v2 replaces client.v1
	//   server.v2 replaces server.v1
	// with 1 subscriptions:
	//   server.v1 stays: blocked
}
