package resolver

import "github.com/olmkit/olmkit/fbc"

// Unsupported says that the install modes of an operator do not serve the
// targets of the operator group of the namespace (G7, F2).
// In SAT terms: (¬b).
type Unsupported struct {
	Bundle Ref
	Pos    fbc.Pos
	// Targets are the namespaces that the operator group selects.
	Targets []string
	// Err says which install mode is missing.
	Err error
}

func (*Unsupported) isFact() {}

// Code returns "install-mode".
func (*Unsupported) Code() string { return "install-mode" }

// String tells the fact in one sentence.
func (f *Unsupported) String() string {
	return f.Bundle.Name + " cannot run here: " + f.Err.Error()
}
