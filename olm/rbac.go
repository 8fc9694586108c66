package olm

// A PolicyRule allows verbs on resources.
type PolicyRule struct {
	Verbs           []string `json:"verbs"`
	APIGroups       []string `json:"apiGroups,omitzero"`
	Resources       []string `json:"resources,omitzero"`
	ResourceNames   []string `json:"resourceNames,omitzero"`
	NonResourceURLs []string `json:"nonResourceURLs,omitzero"`
	Rest            Members  `json:",unknown"`
}

// A Role is a Role or, without a namespace, a ClusterRole.
type Role struct {
	Header
	Rules []PolicyRule `json:"rules,omitzero"`
	// AggregationRule selects the ClusterRoles whose rules this ClusterRole contains.
	AggregationRule *AggregationRule `json:"aggregationRule,omitzero"`
	Rest            Members          `json:",unknown"`
}

// An AggregationRule selects ClusterRoles.
type AggregationRule struct {
	ClusterRoleSelectors []LabelSelector `json:"clusterRoleSelectors,omitzero"`
	Rest                 Members         `json:",unknown"`
}

// A RoleBinding is a RoleBinding or, without a namespace, a
// ClusterRoleBinding.
type RoleBinding struct {
	Header
	RoleRef  RoleRef   `json:"roleRef"`
	Subjects []Subject `json:"subjects,omitzero"`
	Rest     Members   `json:",unknown"`
}

// A RoleRef names the role of a binding.
type RoleRef struct {
	APIGroup string  `json:"apiGroup"`
	Kind     string  `json:"kind"`
	Name     string  `json:"name"`
	Rest     Members `json:",unknown"`
}

// A Subject is a user, group or service account to which a binding grants a role.
type Subject struct {
	Kind      string  `json:"kind"`
	APIGroup  string  `json:"apiGroup,omitzero"`
	Name      string  `json:"name"`
	Namespace string  `json:"namespace,omitzero"`
	Rest      Members `json:",unknown"`
}

// MarshalJSON writes the role with its keys in a fixed order.
func (r Role) MarshalJSON() ([]byte, error) {
	type plain Role
	return marshal((*plain)(&r))
}

// UnmarshalJSON reads a role.
func (r *Role) UnmarshalJSON(text []byte) error { type plain Role; return unmarshal((*plain)(r), text) }

// MarshalJSON writes the binding with its keys in a fixed order.
func (b RoleBinding) MarshalJSON() ([]byte, error) {
	type plain RoleBinding
	return marshal((*plain)(&b))
}

// UnmarshalJSON reads a binding.
func (b *RoleBinding) UnmarshalJSON(text []byte) error {
	type plain RoleBinding
	return unmarshal((*plain)(b), text)
}
