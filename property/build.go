package property

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// New returns a property with the given type and value, as in New(TypeGVK,
// GVK{…}). The keys of the value are in OLM's order; optional keys that are empty
// are left out.
func New[V Package | PackageRequired | GVK | Label](typ string, value V) Property {
	switch v := any(value).(type) {
	case Package:
		return build(typ, &shapePackage, v.PackageName, v.Version, v.Release)
	case PackageRequired:
		return build(typ, &shapePackageRequired, v.PackageName, v.VersionRange)
	case GVK:
		return build(typ, &shapeGVK, v.Group, v.Version, v.Kind)
	default:
		return build(typ, &shapeLabel, any(value).(Label).Label)
	}
}

// Parse returns the value of a property. V must be the Go type for the property's
// type, as in Parse[GVK](p) if p.Type is [TypeGVK]. All keys must be present and
// not empty, except for the release of a [Package]. Parse does not check that
// versions, ranges and names are valid; see [GVK.Validate] for names. The error
// is an [*Error].
func Parse[V Package | PackageRequired | GVK | Label](p Property) (value V, err error) {
	switch v := any(&value).(type) {
	case *Package:
		*v, err = parsePackage(p.Value)
	case *PackageRequired:
		*v, err = parsePackageRequired(p.Value)
	case *GVK:
		s := &shapeGVK
		if p.Type == TypeGVKRequired {
			s = &shapeGVKRequired
		}
		*v, err = s.gvk(p.Value)
	case *Label:
		s := &shapeLabel
		if p.Type == TypeLabelRequired {
			s = &shapeLabelRequired
		}
		*v, err = s.label(p.Value)
	}
	return value, err
}

func build(typ string, s *shape, vals ...string) Property {
	b := []byte{'{'}
	for i, v := range vals {
		if v == "" && i >= s.required {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s.keys[i])
		b = append(b, ':')
		b = appendString(b, v)
	}
	return Property{Type: typ, Value: append(b, '}')}
}

// appendString appends s as JSON. Each invalid byte becomes U+FFFD and, unlike
// in encoding/json, the operators of version ranges are not escaped.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	return b
}
