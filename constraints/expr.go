package constraints

import "github.com/olmkit/olmkit/property"

// An Expr is a constraint: *All, *Any, *Not, *GVK, *Package, *Label or *CEL.
// No other type implements it.
//
// This package never modifies a tree returned by Compiler.Parse or
// Compiler.FromProperty. It is safe for concurrent use as long as it is not
// modified.
type Expr interface {
	// String returns the constraint in a readable notation, such as
	// `any(package etcd >=0.9.0, not label legacy)`. Two constraints have the
	// same text if and only if they are equal apart from their messages.
	String() string
	// Message returns the failureMessage of this node, or "".
	Message() string

	isExpr()
}

// All is true when every constraint in Of is.
//
// In the documented semantics, different bundles may satisfy them. Per bundle,
// as in Evaluator, one bundle must satisfy all of them.
type All struct {
	Of             []Expr
	FailureMessage string
}

// Any is true when at least one constraint in Of is.
type Any struct {
	Of             []Expr
	FailureMessage string
}

// Not is true when none of the constraints in Of is. It negates their
// disjunction, not their conjunction.
type Not struct {
	Of             []Expr
	FailureMessage string
}

// GVK matches bundles that provide an API.
type GVK struct {
	GVK            property.GVK
	FailureMessage string
}

// Package matches bundles of a package whose version is in a range.
type Package struct {
	Name           string
	Range          Range
	FailureMessage string
}

// Label matches bundles that have a label. It represents an olm.label.required
// property; olm.constraint cannot express it.
type Label struct {
	Label          string
	FailureMessage string
}

// CEL matches bundles whose properties satisfy a rule. Use Compiler.Rule to
// create one; otherwise the Evaluator compiles the rule.
type CEL struct {
	Rule           string
	FailureMessage string

	program *program
}

func (x *All) Message() string     { return x.FailureMessage }
func (x *Any) Message() string     { return x.FailureMessage }
func (x *Not) Message() string     { return x.FailureMessage }
func (x *GVK) Message() string     { return x.FailureMessage }
func (x *Package) Message() string { return x.FailureMessage }
func (x *Label) Message() string   { return x.FailureMessage }
func (x *CEL) Message() string     { return x.FailureMessage }

func (*All) isExpr()     {}
func (*Any) isExpr()     {}
func (*Not) isExpr()     {}
func (*GVK) isExpr()     {}
func (*Package) isExpr() {}
func (*Label) isExpr()   {}
func (*CEL) isExpr()     {}
