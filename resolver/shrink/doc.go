// Package shrink reduces a problem to a minimal one that still has a certain property,
// usually the same kind of conflict, for bug reports and tests.
//
//	small, err := shrink.Shrink(ctx, problem, shrink.SameConflict(want))
//
// It repeatedly removes subscriptions, installed operators, policies, catalogs, packages,
// channels, bundles, entries, properties and settings, large parts first, until nothing
// can be removed alone. The result is not necessarily the smallest problem.
package shrink
