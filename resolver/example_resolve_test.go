package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// Package argocd needs an API of etcd.
const argocd = `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- {name: etcd.v0.9.4, replaces: etcd.v0.9.0}
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.0
image: example.com/etcd:0.9.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 0.9.0}}
- {type: olm.gvk, value: {group: etcd.example.com, version: v1beta2, kind: EtcdCluster}}
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.4
image: example.com/etcd:0.9.4
properties:
- {type: olm.package, value: {packageName: etcd, version: 0.9.4}}
- {type: olm.gvk, value: {group: etcd.example.com, version: v1beta2, kind: EtcdCluster}}
---
schema: olm.package
name: argocd
defaultChannel: alpha
---
schema: olm.channel
package: argocd
name: alpha
entries:
- name: argocd.v0.6.0
---
schema: olm.bundle
package: argocd
name: argocd.v0.6.0
image: example.com/argocd:0.6.0
properties:
- {type: olm.package, value: {packageName: argocd, version: 0.6.0}}
- {type: olm.gvk.required, value: {group: etcd.example.com, version: v1beta2, kind: EtcdCluster}}
`

// A subscription also installs what its bundle requires.
func ExampleResolve() {
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
	for _, s := range sol.Selected {
		fmt.Printf("%s %s from channel %s of %s\n", s.Package, s.Version, s.Channel, s.Catalog)
	}
	// Output:
	// argocd 0.6.0 from channel alpha of community
	// etcd 0.9.4 from channel stable of community
}

// The error for a problem without a solution lists the facts that exclude each other.
func ExampleResolve_conflict() {
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
	var no *resolver.Conflict
	if errors.As(err, &no) {
		for _, core := range no.Cores {
			for _, fact := range core.Facts {
				fmt.Println(fact.Code())
			}
		}
	}
	// Output:
	// subscribed
	// must-stay
	// one-per-package
}
