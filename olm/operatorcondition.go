package olm

// An OperatorCondition lets an operator report to OLM what OLM cannot observe. It has the same
// name as the CSV.
type OperatorCondition = Typed[OperatorConditionSpec, OperatorConditionStatus]

// OperatorConditionSpec holds the conditions that the operator reports, and those by which an
// administrator overrides them.
type OperatorConditionSpec struct {
	ServiceAccounts []string    `json:"serviceAccounts,omitzero"`
	Deployments     []string    `json:"deployments,omitzero"`
	Overrides       []Condition `json:"overrides,omitzero"`
	Conditions      []Condition `json:"conditions,omitzero"`
	Rest            Members     `json:",unknown"`
}

// OperatorConditionStatus holds OLM's copy of the conditions that the operator reported.
type OperatorConditionStatus struct {
	Conditions []Condition `json:"conditions,omitzero"`
	Rest       Members     `json:",unknown"`
}
