package olm

import "encoding/json"

// A Deployment runs an operator. Its spec stays JSON, as strategies have it.
type Deployment struct {
	Header
	Spec   json.RawMessage  `json:"spec,omitzero"`
	Status DeploymentStatus `json:"status,omitzero"`
	Rest   Members          `json:",unknown"`
}

// DeploymentStatus states whether the operator runs.
type DeploymentStatus struct {
	ObservedGeneration int64       `json:"observedGeneration,omitzero"`
	Replicas           int64       `json:"replicas,omitzero"`
	UpdatedReplicas    int64       `json:"updatedReplicas,omitzero"`
	Conditions         []Condition `json:"conditions,omitzero"`
	Rest               Members     `json:",unknown"`
}

// MarshalJSON writes the deployment with its keys in a fixed order.
func (d Deployment) MarshalJSON() ([]byte, error) {
	type plain Deployment
	return marshal((*plain)(&d))
}

// UnmarshalJSON reads a deployment.
func (d *Deployment) UnmarshalJSON(text []byte) error {
	type plain Deployment
	return unmarshal((*plain)(d), text)
}
