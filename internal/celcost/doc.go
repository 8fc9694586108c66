// Package celcost makes CEL expressions pay for what they do, so that evaluating
// one ends within a bound whatever it says and whatever it is given. Packages
// constraints and reconcile/internal/celrule evaluate with it.
//
// CEL's own cost tracker does not bound the time; cost.go says why, and what is
// counted in its place. It also says when somebody no longer waits for the
// answer, and lets macros visit maps in the order of their keys.
package celcost
