// Package sat is a thin layer over the SAT solver gini. It answers the
// questions of package resolver: whether a problem is satisfiable, which
// choices are possible in order of preference, and which assumptions form a
// minimal conflict. It knows nothing about operators.
//
// A Lit is a variable or its negation. Functions that build formulas return a
// literal that is true if and only if the formula is. Everything is
// deterministic: the same calls in the same order give the same results. A
// Solver must not be used concurrently.
package sat
