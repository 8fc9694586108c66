// Package content supplies reconciliation with the contents of a cluster's
// catalogs. It reads them from where their CatalogSources point, refreshes
// them, tracks their health, and finds the manifests of bundles.
//
// # A first store
//
//	puller := oci.New(&oci.Options{Keychain: authn.DefaultKeychain})
//	store := content.New(&content.Options{Sources: content.Sources{Images: puller}, Bundles: puller})
//
//	sources := &content.Reconciler{Client: mgr.GetClient(), Store: store}
//	err := sources.SetupWithManager(mgr)
//	r := &kube.Reconciler{Cluster: cluster, Contents: func() reconcile.Content { return store.View() }}
//
// A store does nothing in the background. Refresh reads a catalog if that is due,
// and returns when to call Refresh next. A [Reconciler] calls Refresh for every
// CatalogSource and writes the status. It needs get, list and watch on
// catalogsources, patch on catalogsources/status, and, for pull secrets, get on
// secrets.
//
// # Where a catalog is
//
// A catalog is read from the first of these that is set:
//
//   - the program's own Sources.Named;
//   - spec.image: an image whose label names the directory of its configs. A
//     tag is checked again only if spec.updateStrategy.registryPoll sets an
//     interval, as in OLM;
//   - spec.address with http:// or https://: a server with catalogd's API
//     (package catalogd). As in OLM, the address is ignored if there is an
//     image.
//
// With Sources.Secrets, images of the catalog and its bundles are pulled with
// the secrets that spec.secrets names, in the namespace of the CatalogSource.
// They are read at each pull.
//
// The gRPC protocol of OLM's registry servers is not supported. An address
// without http:// or https://, and a catalog in a config map, are errors.
//
// # Health
//
// A catalog that was read is READY. When a refresh fails, the last content stays
// in use for Options.Grace, with a message in the status. The same applies to
// content that an earlier process left on disk. After that, or at once without any
// content, the state is TRANSIENT_FAILURE and the catalog is unhealthy. Resolution
// then waits in every namespace that sees the catalog instead of continuing
// without it.
//
// Resolution waits at most Options.Patience for the first read of a catalog.
//
// # Limits
//
// Texts are limited in size. Options.Budget limits the memory of the catalogs
// that tenants choose, and Options.Manifests that of cached manifests.
//
// # Consistent views
//
// A [View] holds all catalogs as they were when it was taken, so that they do
// not change during a reconciliation. Views share the catalogs and are cheap.
package content
