// Package memcluster implements a cluster in memory for package reconcile, for dry runs and
// for tests of code that uses a reconcile.Loop.
//
// It stores objects as an API server does: with resourceVersions and conflicts, generations,
// a separate status, and dependents that are deleted with their owners. It makes the checks
// of an API server that do not need a schema: names, scopes, immutable fields, and CRDs that
// lose a version in which objects are stored. It can simulate the controllers that serve
// CRDs and run deployments, and inject faults between a writer and the store.
package memcluster
