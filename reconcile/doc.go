// Package reconcile says what Operator Lifecycle Manager would do next in a
// namespace, and does it: subscriptions, install plans, the phases of operators
// and all that belongs to them (rules E1 to E11, with those of operator groups,
// F1 to F10).
//
// [Decide] is the whole of it, a function from a [Snapshot] of a cluster to a
// [Plan]: changes in their order, each with its reason, and notes about what
// stands still and why. It writes nothing and remembers nothing:
//
//	s, err := reconcile.NewSnapshot("operators", "olm", objects)
//	plan, err := reconcile.Decide(ctx, s, catalogs, nil)
//	for _, c := range plan.Changes {
//		fmt.Println(&c) // create InstallPlan operators/install-0a1b2c3d4e: installs etcd.v0.9.4
//	}
//
// A [Loop] applies plans to a [Cluster] until there is nothing left to do. The
// cluster is an interface of two methods; package memcluster implements it in
// memory, for dry runs and tests, yours included. What catalogs and bundles
// contain comes from [Content], which [Catalogs] implements for file-based
// catalogs.
//
// [Advise] adds what an administrator should know of a cluster that no next
// step changes: which operators block the upgrade of the platform or must not be
// upgraded themselves, which are not supported together, which share roles.
//
// # One step at a time
//
// A plan has at most one change for an object, and none that rests on another
// of its changes having happened, except by order. What follows from a change
// is found in the next snapshot. So a loop can be ended anywhere: whoever comes
// next reads what is there and goes on, as any controller would do that missed
// events. Two consequences are worth knowing:
//
//   - An install plan is created first, then the subscriptions refer to it, then
//     it gets its steps, and only then is it executed. Its name follows from what
//     it installs, so that two loops make one plan.
//   - An older operator is only marked as being replaced when the newer one has
//     all that it needs, and only deleted when the newer one has succeeded.
//
// # In a controller
//
// Run a loop for a namespace when something in it changes, when something changes
// that it shares with others (CRDs, catalogs, the labels of namespaces), and when
// its last plan is due ([Plan].Due). A run is cheap when there is nothing to do. Its
// error says when to run again:
//
//   - [ErrUnavailable] and [ErrPending]: soon, and later each time. Nothing is wrong
//     with the namespace.
//   - [ErrUnsettled]: rarely. Somebody undoes what the loop does.
//   - a [RefusedError]: now and then. The cluster refused a write, and the status of
//     what asked for it says so; everything else is done.
//
// The example of [Loop] named controller is one. Package kube (module
// github.com/olmkit/olmkit/kube) has one for controller-runtime, for all namespaces.
//
// # What is looked after
//
// The deployments of an operator that runs, its service accounts and its roles
// are put right when somebody changes or deletes them, and so are the roles of
// operator groups and copied CSVs. A deployment whose selector has to change, which
// no API server allows, is deleted and created again; one of that name that was not
// made for an operator stays, and the operator says so. The other objects of a bundle, such as
// Services, ConfigMaps and CRDs, are made by the install plan and not looked at
// again; to have them made anew, delete the subscription and the CSV, and
// subscribe again.
//
// # Several namespaces
//
// Loops of several namespaces do not get into each other's way. What operators
// of two namespaces generate under one name, such as the ClusterRoles of an API,
// belongs to the owner that its labels name as long as that one lives; then it
// passes to the other.
//
// # What is left to others
//
// The API server, garbage collection, and whatever runs deployments and serves
// CRDs. Webhooks and aggregated APIs are listed as owned, by [Owned] and [Advise],
// and checked for conflicts; their certificates and registrations are not made here. Nothing is
// logged: reasons are in the plan, events and metrics go to the caller.
package reconcile
