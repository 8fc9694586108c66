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
// [KeepAll] holds everything, for tools that write catalogs. A load whose options
// have a Visit holds nothing: it hands over blob by blob, which is how package graph
// makes its indexes.
//
// # Validation
//
//	_, found, err := fbc.Check(ctx, os.DirFS("catalog"), nil, nil)
//
// [Check] loads and validates in one go and lists everything: what a load
// refuses, what breaks a rule, and as warnings what is legal and strands or
// surprises users. Every [Code] is explained by [Explain] and in docs/codes;
// package report prints findings for people, programs, code scanners and
// workflows. Findings are data: branch on Code and Severity, not on texts.
//
// # Writing and editing
//
// [Write] gives the same bytes for the same blobs, whatever their order and
// layout were, and loses nothing but comments (A12). [Merge] and [Extract]
// compose catalogs (A11), [ReadBundleDir], [SemverTemplate] and [Composite] make
// them (A14, A15). The methods of [Catalog] that edit ([Catalog.Promote],
// [Catalog.SetReplaces], [Catalog.Deprecate] and more) return a new catalog that
// shares all blobs but the changed one.
//
// # What this package does not do
//
// It does not decide what can follow what: that is package graph; nor what would
// be installed: that is package resolver. It pulls no images.
package fbc
