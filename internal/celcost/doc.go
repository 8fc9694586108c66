// Package celcost charges CEL expressions for the work they do, so that any
// evaluation ends within a limit. Packages constraints and
// reconcile/internal/celrule use it.
//
// CEL's own cost tracker does not bound the time; see cost.go. This package
// also supports cancellation, makes macros visit maps in key order, and makes
// results independent of the machine's time zones.
package celcost
