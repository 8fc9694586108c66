// Package olmv1 selects the bundle that OLM v1 would install or upgrade to for a
// ClusterExtension, and explains how: a [Request] names a package, a version range,
// channels and catalogs, and [Select] returns a [Selection], or a [*Refusal] with
// the reason and the alternatives.
//
//	cat, err := graph.Load(ctx, os.DirFS("catalog"), nil)
//	selection, err := olmv1.Select(ctx, olmv1.Request{
//		Package:  "etcd",
//		Version:  ">=1.2.0, <2.0.0",
//		Catalogs: []olmv1.Catalog{{Name: "community", Graph: cat}},
//	})
//
// Each request passes through the stages of a [Funnel]: the catalogs that are
// available and selected, the package, its channels, the range, the successors of
// what is installed, deprecations, the newest of each catalog, the priority of
// catalogs, and what OLM v1 can install.
package olmv1
