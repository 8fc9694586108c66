// Package compare does the same work with olmkit and with its peers: the resolver
// of the running OLM (operator-lifecycle-manager), opm's loader and model
// (operator-registry), OLM's constraint parser (operator-framework/api) and, as
// the measure of a fast package solver, libsolv.
//
// The tests are differential: an answer of olmkit must be among the answers that
// the peer gives to the same problem in repeated runs, for the peer's order comes
// from maps. They run with "go test ./..."; "make namespaces" and "make sources" at
// the root of the repository compare 100,000 generated cases each, from any seed on.
// The benchmarks stand side by side in one run of "make compare", which prints a
// table of medians and ratios and writes the same as JSON.
//
//	peer       the running OLM's resolver without a cluster
//	generate   problems and catalogs made from seeds, and copies of real ones
//	bench      the benchmarks, a command
//	child      small programs that only load, for their peak memory
//	libsolv    a C program that puts the same universe before libsolv
//
// The real catalogs are next to a checkout, in ../shared/catalogs, or are absent;
// what needs them reports it.
package compare
