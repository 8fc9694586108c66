// Package content gives the reconciliation what the catalogs of a cluster
// contain: it reads them where their CatalogSources say they are, reads them
// again when it is time, knows which of them are healthy, and finds the manifests
// of bundles.
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
// A store runs nothing by itself. Refresh reads a catalog if that is due and says
// when to come again; a [Reconciler] calls it for every CatalogSource and writes
// the status. It needs get, list and watch on catalogsources, and patch on
// catalogsources/status; for pull secrets, get on secrets.
//
// # Where a catalog is
//
// In this order:
//
//   - what the program says itself, Sources.Named;
//   - spec.image: an image whose label names the directory of its configs. A tag
//     is looked up again only if spec.updateStrategy.registryPoll says how often,
//     as in OLM;
//   - spec.address with http:// or https://: a catalog that is served as catalogd
//     serves it (package catalogd). As in OLM, an address beside an image does not
//     count.
//
// With Sources.Secrets, images are pulled with the secrets that spec.secrets names
// in the namespace of the CatalogSource, as they are at that time, and so are the
// images of the catalog's bundles.
//
// The gRPC protocol of OLM's registry servers is not spoken: an address that is
// just a host and port, or a catalog in a config map, is an error that says so.
//
// # Health
//
// A catalog that was read is READY. When a refresh fails, what was read last
// stands in for a while, Options.Grace, with a message that says so, be it that
// another process read it and left it on disk; then, and at once when there is
// nothing yet, the state is TRANSIENT_FAILURE and the catalog
// unhealthy: resolution in every namespace that sees it waits, rather than going
// on without it (D14).
//
// Resolution waits for the first reading of a catalog, Options.Patience at most.
//
// # What it costs
//
// Texts have limits, and so has the memory of the catalogs that the administrator
// did not choose, Options.Budget. Manifests stay at hand up to Options.Manifests.
//
// # One state of affairs
//
// What a reconciliation sees must not change under it. A [View] is all catalogs
// as they were when it was taken; later refreshes make new ones. Catalogs are
// shared, so that a view costs next to nothing.
package content
