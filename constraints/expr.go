package constraints

import "github.com/olmkit/olmkit/property"

// An Expr is a constraint: *All, *Any, *Not, *GVK, *Package, *Label or *CEL.
// No other type implements it.
//
// A tree that Compiler.Parse or Compiler.FromProperty returned is never
// changed by this package; while nobody else changes it, any number of
// goroutines may use it.
type Expr interface {
	// String returns the constraint as an author would say it:
	// `any(package etcd >=0.9.0, not label legacy)`. Two constraints have the same
	// text exactly if they are equal, apart from their messages.
	String() string
	// Message returns the author's failureMessage of this node, "" if none.
	Message() string

	isExpr()
}

// All is true when every constraint in Of is.
//
// In the documented semantics (D5) different bundles may meet them; per bundle
// (D6), as Evaluator tests it, one bundle must meet them all.
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

// GVK is true of bundles that provide an API.
type GVK struct {
	GVK            property.GVK
	FailureMessage string
}

// Package is true of bundles of a package whose version is in a range.
type Package struct {
	Name           string
	Range          Range
	FailureMessage string
}

// Label is true of bundles that carry a label (H10). It stems from an
// olm.label.required property; olm.constraint has no spelling for it.
type Label struct {
	Label          string
	FailureMessage string
}

// CEL is true of bundles whose properties satisfy a rule (D7). Compiler.Rule
// makes one; the zero value of the unexported part makes Evaluator compile the
// rule when it meets it.
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
