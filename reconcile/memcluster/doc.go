// Package memcluster is a cluster in memory that package reconcile can work on:
// for dry runs, and for tests of whatever uses a reconcile.Loop.
//
// It keeps objects as an API server does: with resourceVersions and conflicts,
// generations, status apart from the rest, and dependents that go with their
// owners. It refuses what an API server refuses for reasons that need no schema:
// names, scopes, fields that must not change, and CRDs that lose a version in
// which objects are stored. It can play the part of what serves CRDs and runs deployments, and
// faults can be put between a writer and the store.
package memcluster
