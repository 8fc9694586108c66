package olm

// An OperatorCondition is how an operator reports to OLM what OLM cannot see.
// It has the name of the CSV.
type OperatorCondition = Typed[OperatorConditionSpec, OperatorConditionStatus]

// OperatorConditionSpec has what the operator says, and what the administrator
// says instead.
type OperatorConditionSpec struct {
	ServiceAccounts []string    `json:"serviceAccounts,omitzero"`
	Deployments     []string    `json:"deployments,omitzero"`
	Overrides       []Condition `json:"overrides,omitzero"`
	Conditions      []Condition `json:"conditions,omitzero"`
	Rest            Members     `json:",unknown"`
}

// OperatorConditionStatus has the operator's conditions as OLM saw them.
type OperatorConditionStatus struct {
	Conditions []Condition `json:"conditions,omitzero"`
	Rest       Members     `json:",unknown"`
}
