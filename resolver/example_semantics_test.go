package resolver_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// Red requires a package and an API that different bundles provide, and forbids v1alpha1 of
// the API.
const compound = `
schema: olm.package
name: red
defaultChannel: stable
---
schema: olm.channel
package: red
name: stable
entries:
- name: red.v1
- {name: red.v2, replaces: red.v1}
---
schema: olm.bundle
package: red
name: red.v1
image: example.com/red:1
properties:
- {type: olm.package, value: {packageName: red, version: 1.0.0}}
---
schema: olm.bundle
package: red
name: red.v2
image: example.com/red:2
properties:
- {type: olm.package, value: {packageName: red, version: 2.0.0}}
- type: olm.constraint
  value:
    failureMessage: Red paints with blue and green
    all:
      constraints:
      - package: {packageName: blue, versionRange: '>=1.0.0'}
      - gvk: {group: greens.example.com, version: v1, kind: Green}
- type: olm.constraint
  value:
    not:
      constraints:
      - gvk: {group: greens.example.com, version: v1alpha1, kind: Green}
---
schema: olm.package
name: blue
defaultChannel: stable
---
schema: olm.channel
package: blue
name: stable
entries:
- name: blue.v1
---
schema: olm.bundle
package: blue
name: blue.v1
image: example.com/blue:1
properties:
- {type: olm.package, value: {packageName: blue, version: 1.0.0}}
---
schema: olm.package
name: green
defaultChannel: stable
---
schema: olm.channel
package: green
name: stable
entries:
- name: green.v1
- {name: green.v2, replaces: green.v1}
---
schema: olm.bundle
package: green
name: green.v1
image: example.com/green:1
properties:
- {type: olm.package, value: {packageName: green, version: 1.0.0}}
- {type: olm.gvk, value: {group: greens.example.com, version: v1, kind: Green}}
---
schema: olm.bundle
package: green
name: green.v2
image: example.com/green:2
properties:
- {type: olm.package, value: {packageName: green, version: 2.0.0}}
- {type: olm.gvk, value: {group: greens.example.com, version: v1, kind: Green}}
- {type: olm.gvk, value: {group: greens.example.com, version: v1alpha1, kind: Green}}
`

// As documented, different bundles may satisfy the parts of an all, and not excludes bundles
// from the set: the chosen version of green does not provide v1alpha1. The running OLM
// requires one bundle to satisfy the whole constraint. None does, so it chooses the version
// of red that requires nothing.
func ExampleResolve_semantics() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(compound), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, semantics := range []resolver.Semantics{resolver.Documented, resolver.PerBundle} {
		sol, err := resolver.Resolve(ctx, resolver.Problem{
			Namespace:     "operators",
			Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
			Subscriptions: []resolver.Subscription{{Package: "red"}},
			Options:       resolver.Options{Semantics: semantics},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(semantics, ":")
		for _, s := range sol.Selected {
			fmt.Print(" ", s.Name)
		}
		fmt.Println()
	}
	// Output:
	// documented: blue.v1 green.v1 red.v2
	// per-bundle: red.v1
}
