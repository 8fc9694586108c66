package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// The catalog vendor has an app that needs an API, and a provider of it.
const vendor = `
schema: olm.package
name: app
defaultChannel: stable
---
schema: olm.channel
package: app
name: stable
entries:
- name: app.v1
---
schema: olm.bundle
package: app
name: app.v1
image: example.com/app:1
properties:
- {type: olm.package, value: {packageName: app, version: 1.0.0}}
- {type: olm.gvk.required, value: {group: q.example.com, version: v1, kind: Queue}}
---
schema: olm.package
name: queue
defaultChannel: stable
---
schema: olm.channel
package: queue
name: stable
entries:
- name: queue.v1
---
schema: olm.bundle
package: queue
name: queue.v1
image: example.com/queue:1
properties:
- {type: olm.package, value: {packageName: queue, version: 1.0.0}}
- {type: olm.gvk, value: {group: q.example.com, version: v1, kind: Queue}}
`

// The catalog community has another provider, and a higher priority.
const community = `
schema: olm.package
name: fastqueue
defaultChannel: stable
---
schema: olm.channel
package: fastqueue
name: stable
entries:
- name: fastqueue.v3
---
schema: olm.bundle
package: fastqueue
name: fastqueue.v3
image: example.com/fastqueue:3
properties:
- {type: olm.package, value: {packageName: fastqueue, version: 3.0.0}}
- {type: olm.gvk, value: {group: q.example.com, version: v1, kind: Queue}}
`

// A problem is a JSON document in which catalogs may be given by name. For a dependency, the catalog of the dependent
// bundle is preferred to catalogs of higher priority. A catalog that cannot be read fails the resolution, unless the
// caller decides otherwise.
func Example_documents() {
	const text = `{
		"namespace": "operators",
		"catalogs": [
			{"name": "vendor",    "namespace": "olm", "priority": 0,   "dir": "vendor"},
			{"name": "community", "namespace": "olm", "priority": 100, "dir": "community"}
		],
		"subscriptions": [{"package": "app"}],
		"installed": []
	}`
	open := func(ctx context.Context, dir string) (*graph.Catalog, error) {
		text := map[string]string{"vendor": vendor, "community": community}[dir]
		return graph.LoadReader(ctx, strings.NewReader(text), dir+".yaml", nil)
	}
	ctx := context.Background()
	for problem, err := range document.Read[resolver.Problem](strings.NewReader(text)) {
		if err != nil {
			log.Fatal(err)
		}
		if err := problem.Open(ctx, open); err != nil {
			log.Fatal(err)
		}
		sol, err := resolver.Resolve(ctx, problem)
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range sol.Selected {
			fmt.Println(s.Name, "from", s.Catalog)
		}

		problem.Catalogs[1].Unhealthy = "connection refused"
		_, err = resolver.Resolve(ctx, problem)
		var sick *resolver.UnhealthyError
		fmt.Println("refused:", errors.As(err, &sick))

		problem.Options.IgnoreUnhealthy = true
		sol, err = resolver.Resolve(ctx, problem)
		fmt.Println(len(sol.Selected), "selected without it,", err)
	}
	// Output:
	// app.v1 from vendor
	// queue.v1 from vendor
	// refused: true
	// 2 selected without it, <nil>
}
