// Package sat states boolean problems for the solver gini and asks the questions
// that package resolver needs: is it satisfiable, which of these choices can be
// had in order of preference, which assumptions conflict, and which of those
// are really needed for the conflict. It knows nothing of operators.
//
// Throughout, a Lit is a literal: a variable or its negation. Functions that
// build formulas return a literal that is true exactly when the formula is.
// Everything is deterministic: the same calls in the same order give the same
// answers. A Solver is for one goroutine.
package sat
