// Package cli is the command line of olmkit: one file per command, and what the
// commands share.
//
//	root.go       the command tree, Run, exit codes
//	resolve.go    olmkit resolve: its two forms
//	request.go    the people's form: flags to a resolver.Problem
//	answer.go     one answer, for machines and for people
//	list.go       olmkit list packages | channels | bundles
//	validate.go   olmkit validate
//	version.go    olmkit version
//	catalogs.go   which catalogs a command line names, and loading each once
//	output.go     text, json and yaml
//	progress.go   the progress bar of a long load
//
// Nothing here decides anything about operators: that is what the public
// packages are for.
package cli
