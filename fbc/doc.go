// Package fbc reads file-based catalogs: directories of JSON and YAML files
// whose documents (blobs) describe packages, channels, bundles and
// deprecations.
//
// # A first load
//
//	cat, err := fbc.Load(ctx, os.DirFS("catalog"), nil)
//
// Load walks any [fs.FS], skips what the .indexignore files say, splits every
// file into documents, decodes them on all cores and returns the blobs in path
// order and, within a file, in file order, so that timing never shows (A1-A3).
// Every blob knows its file and line, and every fault of the tree is reported,
// not only the first: the error is a [Diagnostics], a list of [*Diagnostic]
// with file, line, schema, package, name and the JSON pointer of the fault.
//
// # What is kept in memory
//
// Resolution needs names, edges, versions and the small properties. Icons,
// descriptions and the values of heavy properties (olm.csv.metadata,
// olm.bundle.object) stay in the file; such a property has a nil Value, and
// [Catalog.Raw] reads the whole blob again from its source. A load with
// [KeepAll] holds everything, for tools that write catalogs.
//
// # What this package does not do
//
// It does not decide what can follow what: that is package graph. It knows the
// shape of the known schemas, not the meaning of constraints.
package fbc
