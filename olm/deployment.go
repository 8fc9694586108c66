package olm

import "encoding/json"

// A Deployment runs an operator. Its spec is raw JSON, as in a StrategyDeploymentSpec.
type Deployment = Typed[json.RawMessage, DeploymentStatus]

// DeploymentStatus states whether the operator runs.
type DeploymentStatus struct {
	ObservedGeneration int64       `json:"observedGeneration,omitzero"`
	Replicas           int64       `json:"replicas,omitzero"`
	UpdatedReplicas    int64       `json:"updatedReplicas,omitzero"`
	Conditions         []Condition `json:"conditions,omitzero"`
	Rest               Members     `json:",unknown"`
}
