// Package cli is the command line of olmkit. Each command has a file with its name. The other
// files hold what commands share.
//
// The command line and its flags:
//
//	root.go          the command tree by question, Run, exit codes
//	help.go          the help command and its topics
//	settings.go      the flags of every command: --color, --timeout, --limit
//	limits.go        what --limit raises and lowers
//	choice.go        flags that are one of a few words
//	graphflags.go    flags and operands of commands that read the upgrade graph
//	complete.go      completion from the catalogs that are named so far
//	nearest.go       suggestions for an unknown name
//
// Catalogs and bundles:
//
//	catalogs.go      which catalogs a command line names, and loading each once
//	catalogarg.go    the catalog of a command that reads only one
//	catalogerror.go  errors about catalogs and images that cannot be used
//	bundlearg.go     bundle directories and images as arguments
//	operand.go       how packages, bundles and installed operators are named
//	reference.go     arguments that name an image or a catalog server
//	images.go        fetching catalogs and bundles from registries and servers
//	imageindex.go    compiled indexes of fetched catalogs
//	remember.go      the digests of references, for --offline
//	keychain.go      credentials for registries
//	registries.go    configured mirrors of registries
//	mirrorset.go     OpenShift's mirror sets
//	onefile.go       a catalog in a single file
//
// Problems and other input:
//
//	request.go           flags to a resolver.Problem
//	input.go             files that are not catalogs, and standard input
//	problemflags.go      --problem and --root: documents in place of flags
//	requests.go          answering the documents of --problem
//	manifestsproblem.go  the documents of "olmkit manifests --problem"
//	crdsafetyproblem.go  the documents of "olmkit crd-safety --problem"
//	kinds.go             the kinds of documents that commands read
//	documents.go         the kinds of documents that have a schema
//
// Clusters:
//
//	clusterstate.go      the flags that name a cluster, and reading it
//	live.go              reading a cluster over the network
//	mustgather.go        reading an OpenShift must-gather
//	inferred.go          what is assumed about a cluster, such as its global namespace
//	rivals.go            packages that classic OLM and OLM v1 both manage
//	census.go            the operators and catalogs of a cluster, and their status
//	clusteroperators.go  the operators of a cluster, for commands that ask about one
//	clustercatalogs.go   the catalogs that a cluster serves
//	clusterdiff.go       what a new catalog changes for the operators of a cluster
//	clusterproblem.go    the problem of a namespace of a cluster
//	clusterextension.go  the request of a ClusterExtension of a cluster
//	clusterplatform.go   the platform upgrade of a cluster
//	clustersecrets.go    the mirrors and pull secrets of a cluster
//
// Output:
//
//	answer.go        one answer, for machines and for people
//	refusal.go       why the subscriptions of a plan cannot be resolved
//	explaincode.go   the pages of codes
//	output.go        text, json and yaml
//	write.go         catalogs as files
//	table.go         tables
//	screen.go        where text goes: its escapes, the width and colors of terminals
//	style.go         colors
//	progress.go      the progress bar of a long load
//
// Decisions about operators are made in the public packages, not here.
package cli
