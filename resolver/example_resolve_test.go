package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
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
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
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

// An upgrade. Version 0.9.0 is installed, and the subscription owns it through InstalledCSV. Otherwise the operator
// would be an orphan and stay as it is.
func ExampleResolve_upgrade() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	sol, err := resolver.Resolve(ctx, resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "etcd", InstalledCSV: "etcd.v0.9.0"}},
		Installed:     []resolver.Installed{{Name: "etcd.v0.9.0", Version: "0.9.0", Package: "etcd"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sol.Selected {
		fmt.Println(s.Name, "replaces", s.Replaces)
	}
	// Output: etcd.v0.9.4 replaces etcd.v0.9.0
}

// The error for a problem without a solution lists the facts that exclude each other.
func ExampleResolve_conflict() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
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

// legacy is an operator that somebody installed without a subscription.
func legacy() resolver.Installed {
	return resolver.Installed{Name: "etcd-legacy.v0.8.0", Version: "0.8.0", Package: "etcd-legacy", Properties: []property.Property{
		{Type: property.TypeGVK, Value: []byte(`{"group":"etcd.example.com","version":"v1beta2","kind":"EtcdCluster"}`)},
	}}
}

// A conflict shows how the requests lead to a contradiction. Its cores are minimal: without any one of their facts the others can hold.
func ExampleConflict() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
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
	for _, f := range no.Cores[0].Facts {
		fmt.Printf("%s: %s\n", f.Code(), f)
	}
	d, err := no.Cores[0].Derive(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println()
	fmt.Print(d.Text(80, nil))
	// Output:
	// subscribed: subscription etcd requests package etcd: etcd.v0.9.4 or etcd.v0.9.0
	// must-stay: etcd-legacy.v0.8.0 is installed without a subscription and must stay
	// one-provider: a namespace can hold only one provider of EtcdCluster (etcd.example.com/v1beta2): etcd-legacy.v0.8.0, etcd.v0.9.0 or etcd.v0.9.4
	//
	// subscription etcd cannot be satisfied: both versions of package etcd conflict
	// with the installed etcd-legacy.v0.8.0: all provide EtcdCluster
	// (etcd.example.com/v1beta2)
	//   - the installed etcd-legacy.v0.8.0 is an orphan: no subscription has it as
	//     installedCSV, so it must stay as it is
}

// Fixes are the smallest changes that resolve a conflict. Each was verified by solving the
// changed problem.
func ExampleCore_Fixes() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
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
	// remove-operator: uninstall etcd-legacy.v0.8.0; then etcd.v0.9.4 is installed. Risk: etcd.v0.9.4 takes the place of etcd-legacy.v0.8.0 without an upgrade, so it may fail or lose data; back up its resources
}

// Reports why a request cannot be satisfied, and what would fix it.
func ExampleConflict_Report() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
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
	//   - the installed etcd.v0.9.0 is an orphan: no subscription has it as
	//     installedCSV, so it must stay as it is
	// possible fixes, least disruptive first:
	//   1. let subscription etcd own etcd.v0.9.0, so that it can be upgraded; then
	//      etcd.v0.9.4 is installed
	//      kubectl patch subscription.operators.coreos.com etcd -n operators --subresource=status --type merge --patch '{"status":{"currentCSV":"etcd.v0.9.0","installedCSV":"etcd.v0.9.0","lastUpdated":"1970-01-01T00:00:00Z","state":"AtLatestKnown"}}'
	//   2. delete subscription etcd
	//      kubectl delete subscription.operators.coreos.com etcd -n operators
	//   3. uninstall etcd.v0.9.0; then etcd.v0.9.4 is installed. Risk: it is installed
	//      afresh, not upgraded, so it may fail or lose data; back up its resources
	//      kubectl delete clusterserviceversion etcd.v0.9.0 -n operators
	// more: "olmkit explain one-per-package"
}

// With Partial, the independent parts of a namespace that have a solution are planned, and
// the others are reported.
func ExampleOptions_partial() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
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

// Policies pin, hold and exclude packages. Explanations show the reason.
func ExamplePolicy() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
	if err != nil {
		log.Fatal(err)
	}
	p := resolver.Problem{
		Namespace:     "operators",
		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Package: "argocd"}},
		Policies:      []resolver.Policy{{Package: "etcd", Exclude: ">=0.9.4", Reason: "loses data, see OPS-12"}},
	}
	sol, err := resolver.Resolve(ctx, p)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range sol.Selected {
		fmt.Println(s.Name)
	}
	p.Policies = []resolver.Policy{{Package: "etcd", Hold: true, Reason: "change freeze"}}
	_, err = resolver.Resolve(ctx, p)
	fmt.Println(err)
	// Output:
	// argocd.v0.6.0
	// etcd.v0.9.0
	// no solution in namespace "operators": subscription argocd cannot be satisfied: argocd.v0.6.0, the only version of package argocd, requires API EtcdCluster (etcd.example.com/v1beta2), but a policy blocks every bundle that satisfies it: package etcd is on hold (change freeze)
}

// A solution explains why each bundle is in it, and why others are not.
func ExampleSolution_Why() {
	ctx := context.Background()
	catalog, err := graph.LoadReader(ctx, strings.NewReader(argocd), "catalog.yaml", nil)
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
	//   it is the preferred one of 2 options: it is the head of channel stable
	// argocd.v0.6.0 was chosen for subscription argocd
	//   it is the head of channel alpha
	//
	// etcd.v0.9.0 (community/olm, channel stable) is possible, but argocd.v0.6.0
	// prefers etcd.v0.9.4: it is the head of channel stable
}
