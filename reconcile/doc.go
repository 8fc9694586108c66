// Package reconcile decides what Operator Lifecycle Manager would do next in a
// namespace, and does it: subscriptions, install plans, the phases of operators
// and everything that belongs to them. It implements the rules of OLM from [E1] on,
// and those of operator groups from [F1] on.
//
// [Decide] is a pure function from a [Snapshot] of a cluster to a [Plan]: changes in
// order, each with its reason, and notes about what waits and why:
//
//	catalogs := &reconcile.Catalogs{StandIns: true} // for a dry run: manifests are in images
//	catalogs.AddGraph(resolver.CatalogID{Name: "community", Namespace: "olm"}, cat)
//	var objects []olm.Object
//	err := json.Unmarshal([]byte(`[
//	{"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup",
//	 "metadata": {"name": "all", "namespace": "operators"}},
//	{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "CatalogSource",
//	 "metadata": {"name": "community", "namespace": "olm"}},
//	{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription",
//	 "metadata": {"name": "etcd", "namespace": "operators"},
//	 "spec": {"name": "etcd", "channel": "stable", "source": "community", "sourceNamespace": "olm"}}]`), &objects)
//	s, err := reconcile.NewSnapshot("operators", "olm", objects)
//	plan, err := reconcile.Decide(ctx, s, catalogs, nil)
//	for _, c := range plan.Changes {
//		fmt.Println(c) // create InstallPlan operators/install-0a1b2c3d4e: installs etcdoperator.v0.9.4
//	}
//
// The snapshot needs the CatalogSource, too: content without one is not used.
//
// If no set of bundles satisfies the subscriptions, or the manifests of a chosen bundle
// cannot be used, [Plan].Refused is the reason, which a condition of the subscriptions also
// reports. The rest of the plan is not affected: running operators are maintained. With the
// resolver's option Partial, those subscriptions that can be satisfied are planned.
//
// Most catalogs do not carry manifests, which are in the images of bundles.
// [Catalogs].StandIns replaces them for a dry run, as above. To install operators, implement
// [Content].
//
// A [Loop] applies plans to a [Cluster] until there is nothing left to do. The
// cluster is an interface of two methods; package memcluster implements it in
// memory, for dry runs and tests. [Content] provides catalogs and the manifests of bundles;
// [Catalogs] implements it for file-based catalogs.
//
// [Advise] reports what an administrator should know about a cluster apart from the
// next steps: which operators block the upgrade of the platform, must not be upgraded
// themselves, or are not supported together, and which operator groups share roles.
//
// # One step at a time
//
// A plan has at most one change for each object. Its changes depend on each other
// only by order; what follows from a change is found in the next snapshot. So a loop
// can be interrupted anywhere: the next one reads the state and continues, like any
// level-triggered controller. Two consequences are worth knowing:
//
//   - An install plan is created first, then the subscriptions refer to it, then
//     it gets its steps, and only then is it executed. Its name follows from what
//     it installs, so two loops create the same plan.
//   - An older operator is only marked as being replaced when the newer one has
//     everything it needs, and only deleted when the newer one has succeeded.
//
// # In a controller
//
// Run a loop for a namespace when something in it changes, when something changes
// that it shares with others (CRDs, catalogs, the labels of namespaces), and when
// its last plan is due ([Plan].Due). A run is cheap when there is nothing to do. Its
// error decides when to run again:
//
//   - [ErrUnavailable] and [ErrPending]: soon, with a longer delay each time. Nothing is wrong
//     with the namespace.
//   - [ErrUnsettled]: rarely. Something undoes what the loop does.
//   - a [RefusedError]: now and then. The cluster refused a write, which the status of
//     the object that needs it reports; everything else is done.
//
// The example of [Loop] named controller is one. Package kube (module
// github.com/olmkit/olmkit/kube) has one for controller-runtime, for all namespaces.
//
// # What is maintained
//
// The deployments of an operator that runs, its service accounts and its roles
// are restored when they are changed or deleted, and so are the roles of operator
// groups and copied CSVs. A deployment whose selector has to change, which API
// servers do not allow, is deleted and created again; a deployment with that name
// that was not created for an operator stays, and the status of the operator reports it.
// Other objects of a bundle, such as Services, ConfigMaps and CRDs, are created by the
// install plan and not maintained. To recreate them, delete the subscription and the CSV,
// and subscribe again.
//
// # Webhooks and aggregated APIs
//
// An operator that serves webhooks or aggregated APIs gets what OLM gives it, with
// the same names: Services, certificates, their volumes, and registrations. A
// certificate is replaced a day before it expires, and [Plan].Due is set to that time. This
// requires a clock: a plan without [Snapshot].Now makes no certificates. Options.NewKey is
// the source of private keys.
//
// # Several namespaces
//
// Loops of several namespaces do not interfere with each other. If operators of two
// namespaces generate an object with the same name, such as a ClusterRole of an API, it
// belongs to the owner that its labels name, and to the other once that owner is gone.
//
// # What is left to others
//
// The API server, the garbage collector, and the controllers that run deployments and serve
// CRDs do the rest. Nothing is logged: reasons are in the plan, and events and metrics go to
// the caller.
//
// [E1]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#e1
// [F1]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#f1
package reconcile
