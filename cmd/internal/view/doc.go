// Package view generates a single HTML page for browsing catalogs, resolutions and
// differences.
//
//	page, err := view.New(ctx, &view.Input{Catalogs: []view.Catalog{{Name: "community", Graph: cat}}})
//	_, err = page.WriteTo(file)
//
// The page makes no network requests: its script, style and data are part of it. [Serve]
// serves the same page on a listener.
//
// # Data and script
//
// Nothing about operators is decided in the page. What follows an installed
// version in each reading, what is stranded, what a resolution chose and why, and
// what changed between two catalogs comes from packages graph and resolver, as
// tables of numbers and finished sentences. The script follows a table from one
// version to the next; it never reads a range or compares versions.
//
//	data.go      the data of a page, as the script reads it
//	catalog.go   packages, bundles and channels
//	words.go     display names, descriptions and keywords of packages
//	ways.go      which versions follow which, in both readings
//	answer.go    resolutions as graphs of reasons
//	conflict.go  conflicts as derivations with fixes
//	diff.go      what a catalog changes
//	page.go      the page as one document, and its content security policy
//	serve.go     the server
//	app          the script, the style and the body of the page
//	lib          the libraries of the script: dagre for layout, d3-zoom to move about
//
// # Text of catalogs
//
// The files of a catalog have descriptions; its index does not. The page has those
// of each package and of the heads of its channels, cut to a few lines: reading
// them all would take longer than everything else.
//
// Texts of a catalog are never interpreted as markup. They are in the page as escaped JSON,
// and the script creates text nodes from them. The policy of the page allows its own script
// and style by their hashes and nothing else, and forbids the functions that turn text into
// markup. Icons, links and the Markdown of catalogs are not rendered.
//
// # The libraries
//
// Dagre (MIT) lays out directed graphs, is maintained, and is 48 kB; d3-zoom with
// what it needs (ISC, BSD) is 64 kB and handles wheels, touch and keys in all
// browsers. Elkjs also lays out graphs, but is thirty times as large; cytoscape draws
// on a canvas, which neither a keyboard nor a screen reader can enter. Directory lib
// holds the published files, their licences and sums, and the script that fetched
// them.
package view
