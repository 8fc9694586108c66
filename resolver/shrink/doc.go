// Package shrink cuts a problem down to a smallest one that still shows what
// somebody wants to show: usually, that it has the same kind of conflict. A bug
// report becomes a page, and a test.
//
//	small, err := shrink.Shrink(ctx, problem, shrink.SameConflict(want))
//
// It takes away, again and again, what can go: subscriptions, installed
// operators, policies, catalogs, packages, channels, bundles, entries, properties
// and settings, halves first and single ones last, until nothing more can go
// alone. It does not look for smaller problems that are made otherwise.
package shrink
