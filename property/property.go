package property

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The property types that OLM gives a meaning to (A13).
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

// ReservedPrefix begins every type name that only OLM may define. A type that
// has it and that [IsKnown] does not know is worth a warning (A4).
const ReservedPrefix = "olm."

// A Property is one {type, value} pair of a bundle.
//
// Copying a Property shares its Value, which nobody may modify. Any number of
// goroutines may then read it.
type Property struct {
	Type string `json:"type"`
	// Value is the JSON text of the value as the catalog has it. It is nil
	// where the loader left the value in the file (see IsHeavy); a property
	// whose value is the JSON null has the four bytes "null" instead.
	Value json.RawMessage `json:"value"`
}

// Equal reports whether p and q have the same type and the same value text,
// byte for byte. A value that is not in memory equals only another such value.
func (p Property) Equal(q Property) bool {
	return p.Type == q.Type && (p.Value == nil) == (q.Value == nil) && bytes.Equal(p.Value, q.Value)
}

// IsHeavy reports whether values of the type are large and unused by
// resolution: olm.csv.metadata and olm.bundle.object, nine tenths of a
// production catalog. Loaders may leave them in the file.
func IsHeavy(typ string) bool {
	return typ == TypeCSVMetadata || typ == TypeBundleObject
}

// IsKnown reports whether OLM gives the type a meaning (A13).
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

// IsReserved reports whether the type has the prefix that is reserved for OLM.
func IsReserved(typ string) bool {
	return strings.HasPrefix(typ, ReservedPrefix)
}

// IsRequirement reports whether a property of the type asks something of the
// other bundles (D2): olm.gvk.required, olm.package.required,
// olm.label.required and olm.constraint.
func IsRequirement(typ string) bool {
	switch typ {
	case TypeGVKRequired, TypePackageRequired, TypeLabelRequired, TypeConstraint:
		return true
	}
	return false
}
