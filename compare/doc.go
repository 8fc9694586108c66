// Package compare does the same work with olmkit and with its peers: the resolver
// of the running OLM (operator-lifecycle-manager), opm's loader and model
// (operator-registry), OLM's constraint parser (operator-framework/api), the check of
// CRD upgrades in OLM v1 (crdify) and, as an example of a fast package solver, libsolv.
//
// The tests are differential: an answer of olmkit must be among the answers that
// the peer gives to the same problem in repeated runs, because the peer iterates
// over maps. They run with "go test ./..."; "make namespaces" and "make sources" at
// the root of the repository compare 100,000 generated cases each, beginning with
// any seed. "make compare" runs the benchmarks of both sides together, prints a table
// of medians and ratios, and writes it as JSON.
//
//	peer       the running OLM's resolver without a cluster
//	generate   problems and catalogs made from seeds, and copies of real ones
//	bench      the benchmarks, a command
//	child      small programs that only load, to measure peak memory
//	libsolv    a C program that solves the same problem with libsolv
//
// The real catalogs are next to a checkout, in ../shared/catalogs. Without them,
// the tests that need them are skipped, and the benchmarks report that they are missing.
package compare
