package reconcile

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
)

// A CRDViolation is a reason why a new definition of a CRD cannot replace the old one, or
// why it is unknown whether it can.
type CRDViolation struct {
	// Version is the affected version of the API.
	Version string `json:"version"`
	// Object is the custom resource that the new schema rejects. It is zero if the version
	// itself is gone.
	Object olm.Key `json:"object,omitzero"`
	// Path is the field of the object, such as spec.ports[0].name. It is empty
	// for the object as a whole.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	// Unchecked reports whether something could not be checked. It may or may not be a
	// violation.
	Unchecked bool `json:"unchecked,omitzero"`
}

// String returns the violation on one line.
func (v CRDViolation) String() string { return crd.Violation(v).String() }
