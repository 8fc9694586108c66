package olm

// An OperatorCondition is how an operator reports to OLM what OLM cannot see.
// It has the name of the CSV.
type OperatorCondition struct {
	Header
	Spec   OperatorConditionSpec   `json:"spec,omitzero"`
	Status OperatorConditionStatus `json:"status,omitzero"`
	Rest   Members                 `json:",unknown"`
}

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

// MarshalJSON writes the condition with its keys in a fixed order.
func (c OperatorCondition) MarshalJSON() ([]byte, error) {
	type plain OperatorCondition
	return marshal((*plain)(&c))
}

// UnmarshalJSON reads a condition.
func (c *OperatorCondition) UnmarshalJSON(text []byte) error {
	type plain OperatorCondition
	return unmarshal((*plain)(c), text)
}
