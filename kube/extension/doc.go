// Package extension is the side of OLM v1 on a real cluster: from a
// ClusterExtension and the ClusterCatalogs to a selection (olmv1.Select), and
// back to the conditions of the extension's status.
//
// # Two functions
//
// [Decide] says which bundle an extension gets, [Status] what its status then is.
// Both are functions of their arguments and write nothing:
//
//	d, err := extension.Decide(ctx, ext, installed, catalogs, opener, nil)
//	status := extension.Status(ext, extension.Outcome{Decision: d, Installed: installed}, metav1.Now())
//
// The catalogs that take part, those that are available and that the extension's
// selector selects, are opened by an [Opener]; [Served] reads them from where
// their status says that they are served. No other catalog is read (C6).
//
// # A controller
//
// A [Reconciler] does that for every extension, when it or a catalog changes:
//
//	r := &extension.Reconciler{Client: mgr.GetClient(), Catalogs: &extension.Served{}}
//	err := r.SetupWithManager(mgr)
//
// It decides and writes status. To install is the work of an [Installer] that the
// program gives. Without one, the reconciler says in the condition Progressing
// which bundle is selected and that nothing here installs it; it never says that
// something is installed that it did not see.
//
// It needs get, list and watch on clusterextensions and clustercatalogs, and patch
// on clusterextensions/status. Several replicas are one by way of the manager's
// leader election.
//
// # What the conditions say
//
//   - Installed: True and Succeeded with a bundle; False and Absent without one,
//     Failed when the first installation failed; Unknown and Failed when that
//     cannot be told.
//   - Progressing: True and Succeeded when what is installed is what is selected;
//     True and Retrying when something is in the way that may pass, as another
//     catalog may have what is missing; False and Blocked when only a person can
//     help: the specification is wrong, or the installer says so with a
//     reconcile.TerminalError.
//   - PackageDeprecated, ChannelDeprecated and BundleDeprecated are about the
//     package, the channels that are asked for, and the bundle that is installed;
//     Deprecated sums them up. They are Unknown when no catalog has the package.
package extension
