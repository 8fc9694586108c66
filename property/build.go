package property

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// New returns a property of a type with a value, such as New(TypeGVK, GVK{…}). Its keys are
// in OLM's order, and those that are optional and empty are left out.
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
