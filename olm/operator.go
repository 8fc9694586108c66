package olm

import "strings"

// LabelComponent is the prefix of the label of the objects that belong to an operator. Here an
// operator is, as in OLM, a package that is installed in a namespace. The rest of the label is
// the name of its [Operator].
const LabelComponent = Group + "/"

// maxLabelName is how long the part of a label after the slash may be.
const maxLabelName = 63

// OperatorName returns the name of the Operator for a package in a namespace: pkg and
// namespace, joined by a dot and truncated to the length that a label may have.
func OperatorName(pkg, namespace string) string { // E30
	name := pkg + "." + namespace
	if len(name) > maxLabelName {
		name = strings.TrimRight(name[:maxLabelName], "._-")
	}
	return name
}

// An Operator is the list of the objects that belong to an operator: those with the
// label [LabelComponent] and its name. It is cluster-scoped.
type Operator struct {
	Header
	Status OperatorStatus `json:"status,omitzero"`
	Rest   Members        `json:",unknown"`
}

// OperatorStatus lists the objects of the operator.
type OperatorStatus struct {
	Components *Components `json:"components,omitzero"`
	Rest       Members     `json:",unknown"`
}

// Components are the objects of an operator.
type Components struct {
	// LabelSelector selects the objects by their label.
	LabelSelector *LabelSelector `json:"labelSelector"`
	// Refs are in order of kind, apiVersion, namespace and name.
	Refs []ComponentRef `json:"refs,omitzero"`
	Rest Members        `json:",unknown"`
}

// A ComponentRef refers to an object of an operator.
type ComponentRef struct {
	Kind       string      `json:"kind"`
	Namespace  string      `json:"namespace,omitzero"`
	Name       string      `json:"name"`
	APIVersion string      `json:"apiVersion"`
	Conditions []Condition `json:"conditions,omitzero"`
	Rest       Members     `json:",unknown"`
}

// MarshalJSON writes the operator with its keys in a fixed order.
func (o Operator) MarshalJSON() ([]byte, error) {
	type plain Operator
	return marshal((*plain)(&o))
}

// UnmarshalJSON reads an operator.
func (o *Operator) UnmarshalJSON(text []byte) error {
	type plain Operator
	return unmarshal((*plain)(o), text)
}
