package property

import "encoding/json"

// NewDeprecated returns the olm.deprecated property, which prevents new
// installations of a bundle. Its value is an empty object without meaning.
func NewDeprecated() Property {
	return Property{Type: TypeDeprecated, Value: json.RawMessage("{}")}
}

// NewConstraint returns an olm.constraint property with the given JSON value,
// which is neither validated nor copied.
func NewConstraint(value json.RawMessage) Property {
	return Property{Type: TypeConstraint, Value: value}
}
