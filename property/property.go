package property

import (
	"bytes"
	"encoding/json"
)

// The property types that OLM defines.
const (
	TypePackage             = "olm.package"
	TypeGVK                 = "olm.gvk"
	TypePackageRequired     = "olm.package.required"
	TypeGVKRequired         = "olm.gvk.required"
	TypeConstraint          = "olm.constraint"
	TypeMaxOpenShiftVersion = "olm.maxOpenShiftVersion"
	TypeKubeVersion         = "olm.kubeversion"
	TypeLabel               = "olm.label"
	TypeLabelRequired       = "olm.label.required"
	TypeDeprecated          = "olm.deprecated"
	TypeCSVMetadata         = "olm.csv.metadata"
	TypeBundleObject        = "olm.bundle.object"
)

// A Property is one {type, value} pair of a bundle.
//
// Copies of a Property share its Value, which must not be modified. A Property
// is then safe for concurrent use.
type Property struct {
	Type string `json:"type"`
	// Value is the JSON text of the value, as in the catalog. It is nil if the
	// loader left the value in the file (see IsHeavy). A JSON null is the text
	// "null".
	Value json.RawMessage `json:"value,omitzero"`
}

// Equal reports whether p and q have the same type and the same value, byte for
// byte. A value that is not in memory is equal only to another such value.
func (p Property) Equal(q Property) bool {
	return p.Type == q.Type && (p.Value == nil) == (q.Value == nil) && bytes.Equal(p.Value, q.Value)
}

// IsHeavy reports whether values of a type are large and not needed for
// resolution: olm.csv.metadata and olm.bundle.object, which make up nine tenths
// of a production catalog. Loaders may leave them in the file.
func IsHeavy(typ string) bool {
	return typ == TypeCSVMetadata || typ == TypeBundleObject
}

// IsKnown reports whether OLM defines the type.
func IsKnown(typ string) bool {
	switch typ {
	case TypePackage, TypeGVK, TypePackageRequired, TypeGVKRequired,
		TypeConstraint, TypeMaxOpenShiftVersion, TypeKubeVersion,
		TypeLabel, TypeLabelRequired, TypeDeprecated,
		TypeCSVMetadata, TypeBundleObject:
		return true
	}
	return false
}

// IsRequirement reports whether properties of a type are requirements:
// olm.gvk.required, olm.package.required, olm.label.required and
// olm.constraint.
func IsRequirement(typ string) bool {
	switch typ {
	case TypeGVKRequired, TypePackageRequired, TypeLabelRequired, TypeConstraint:
		return true
	}
	return false
}
