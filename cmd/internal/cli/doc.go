// Package cli is the command line of olmkit: one file per command, named for it,
// and what the commands share:
//
//	root.go          the command tree by question, Run, exit codes
//	help.go          the help command and its topics
//	settings.go      the flags of every command: --color, --timeout, --limit
//	limits.go        what --limit raises and lowers
//	catalogs.go      which catalogs a command line names, and loading each once
//	catalogarg.go    the one catalog of a command that reads one
//	operand.go       how packages, bundles and what is installed are named
//	request.go       flags to a resolver.Problem
//	input.go         files that are not catalogs, and standard input
//	problemflags.go  --problem and --root: documents in place of flags
//	requests.go      answering the documents of --problem
//	complete.go      completion from the catalogs that are named so far
//	nearest.go       what an unknown name may have meant
//	answer.go        one answer, for machines and for people
//	output.go        text, json and yaml
//	write.go         catalogs as files
//	table.go         tables
//	choice.go        flags that are one of a few words
//	screen.go        where text goes: its escapes, the width and colours of terminals
//	style.go         colours
//	progress.go      the progress bar of a long load
//
// Nothing here decides anything about operators: that is what the public
// packages are for.
package cli
