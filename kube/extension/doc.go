// Package extension connects OLM v1 selection (olmv1.Select) to a real cluster:
// it selects a bundle for a ClusterExtension from the ClusterCatalogs, and
// computes the conditions of the extension's status.
//
// # Deciding
//
// Package desired selects a bundle for an extension, and [Status] computes the
// resulting status. Neither has side effects:
//
//	d, err := desired.Decide(ctx, ext, installed, catalogs, opener, nil)
//	status := extension.Status(ext, extension.Outcome{Decision: d, Installed: installed}, metav1.Now())
//
// A [desired.Opener] opens the catalogs that take part: those that are available and
// match the extension's selector. No other catalog is read. [Served] is an
// Opener that fetches them from the addresses in their status.
//
// # A controller
//
// A [Reconciler] does this for every extension when the extension or a catalog
// changes:
//
//	r := &extension.Reconciler{Client: mgr.GetClient(), Catalogs: &extension.Served{}}
//	err := r.SetupWithManager(mgr)
//
// It selects bundles and writes status; an [Installer] provided by the program
// installs. Without an Installer, the condition Progressing reports the
// selected bundle and that nothing installs it. The reconciler never reports a
// bundle as installed unless it has observed that.
//
// It needs get, list and watch on clusterextensions and clustercatalogs, and
// patch on clusterextensions/status. With Rollouts it needs all permissions,
// because bundles may contain any. With several replicas, use the manager's
// leader election.
//
// # Rollouts
//
// With [Rollouts] the reconciler installs bundles itself, as package rollout
// decides: the objects in phases, with Server-Side Apply, after the CRDs have
// been checked. It restores what others change, removes what a new bundle no
// longer has, and removes everything in reverse order when the extension is
// deleted. The revisions are ClusterObjectSets if the cluster had them when the
// controller was started, and otherwise Secrets; their objects are in Secrets. An
// extension keeps the kind of revision that it began with. All objects are
// watched, so nothing is requested while nothing changes:
//
//	r.Rollouts = &extension.Rollouts{Client: c, Namespace: "olmv1-system", Bundles: source}
//
// The condition Available then reports whether the objects pass their probes,
// and the others are those of the revisions.
//
// ClusterObjectSets that belong to no extension are rolled out in the same way.
//
// # Conditions
//
//   - Installed: True with reason Succeeded if a bundle is installed; False
//     with Absent if none is, or with Failed if the first installation failed;
//     Unknown with Failed if the installed bundle cannot be determined.
//   - Progressing: True with reason Succeeded if the selected bundle is
//     installed; True with Retrying if the obstacle may go away, for example
//     when a catalog is updated; False with Blocked if it needs a person,
//     because the specification is invalid or the installer returned a
//     reconcile.TerminalError. With Rollouts also: True with RollingOut while a
//     revision rolls out; False with InvalidConfiguration, or with
//     ProgressDeadlineExceeded if the revision took too long.
//   - Available, with Rollouts only: whether the objects pass their probes.
//   - PackageDeprecated, ChannelDeprecated and BundleDeprecated describe the
//     package, the requested channels and the installed bundle; Deprecated
//     summarizes them. They are Unknown if no catalog has the package.
package extension
