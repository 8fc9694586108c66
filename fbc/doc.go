// Package fbc reads file-based catalogs: directories of JSON and YAML files whose
// documents (blobs) describe packages, channels, bundles and deprecations.
//
// # Loading
//
//	cat, err := fbc.Load(ctx, os.DirFS("catalog"), nil)
//
// [Load] walks an [fs.FS], skips the files listed in .indexignore, and decodes all others
// on all cores. It returns the blobs in the order of their paths and, within a file, in
// file order, regardless of timing. Each blob has a file and a line. A failed load
// reports every fault, not only the first: the error is a [Diagnostics], whose items have
// the file, line, schema, package, name and JSON pointer of the fault.
//
// # Memory
//
// Resolution needs names, edges, versions and the small properties. Icons, descriptions
// and the values of heavy properties (olm.csv.metadata, olm.bundle.object) stay in the
// file: such a property has a nil Value, and [Catalog.Raw] reads the whole blob again.
// With [LoadOptions.KeepAll], a load keeps everything, for tools that write catalogs. With
// [LoadOptions.Visit], it keeps nothing and passes each blob to a function, which is how
// package graph builds its indexes.
//
// # Validation
//
//	_, found, err := fbc.Check(ctx, os.DirFS("catalog"), nil, nil)
//
// [Check] loads and validates a catalog. It returns errors, for what cannot be loaded or
// breaks a rule, and warnings, for what is legal but leaves users stuck or surprises
// them. [Explanations] and docs/codes explain each [Code]. Package report prints findings for
// people, programs, code scanners and workflows. Branch on Code and Severity, not on
// texts.
//
// # Writing and editing
//
// [Write] writes the same bytes for the same blobs, whatever their order and layout, and
// loses only comments. [Merge] and [Extract] compose catalogs. Methods of [Catalog] such as
// [Catalog.Promote], [Catalog.EditEntry] and [Catalog.Deprecate] edit one: they return
// a new catalog that shares all blobs but the changed one. Package bundle renders bundle
// directories, and package template renders templates.
//
// Package graph computes upgrades, and package resolver computes what is installed.
package fbc
