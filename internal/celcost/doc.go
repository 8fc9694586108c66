// Package celcost makes CEL expressions pay for what they do, so that evaluating
// one ends within a bound whatever it says and whatever it is given. Packages
// constraints and reconcile/internal/celrule evaluate with it.
//
// CEL's own cost tracker does not bound the time; cost.go says why, and what is
// counted in its place. It also ends an evaluation when nobody waits for the
// answer any more, lets macros visit maps in the order of their keys, and keeps the
// time zones of the machine out of the answer.
package celcost
