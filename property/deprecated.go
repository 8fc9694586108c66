package property

import "encoding/json"

// NewDeprecated returns the olm.deprecated property, by which a bundle is never
// chosen anew (D12). Its value, an empty object, has no meaning.
func NewDeprecated() Property {
	return Property{Type: TypeDeprecated, Value: json.RawMessage("{}")}
}

// NewConstraint returns the olm.constraint property for the JSON text of a
// constraint, which is neither checked nor copied.
func NewConstraint(value json.RawMessage) Property {
	return Property{Type: TypeConstraint, Value: value}
}
