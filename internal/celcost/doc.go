// Package celcost charges CEL expressions for the work they do, so that any
// evaluation ends within a limit. Package constraints uses it, and kube/crd for
// the prices of tokens and regular expressions.
//
// CEL's own cost tracker does not bound the time; see cost.go. This package
// also supports cancellation, makes macros visit maps in key order, and makes
// results independent of the machine's time zones.
package celcost
