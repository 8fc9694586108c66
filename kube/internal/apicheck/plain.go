package apicheck

import (
	"reflect"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Most schemas are evidently structural, and have few defaults and rules. They are not converted to
// structural schemas, except for the parts with defaults and rules: that took most of the time
// of checking a CRD.

// plain reports whether a schema, without its parts, is evidently structural: the API server's
// ValidateStructural has nothing to report.
func plain(s *apiextensionsv1.JSONSchemaProps, root bool) bool {
	keeps := s.XPreserveUnknownFields != nil
	switch {
	case s.Schema != "", s.XEmbeddedResource, s.XIntOrString && keeps,
		s.Type == "" && !s.XIntOrString && !keeps,
		len(s.AllOf) > 0, len(s.OneOf) > 0, s.Not != nil, len(s.AnyOf) > 0 && !intOrString(s.AnyOf):
		return false
	case !root:
		return true
	case s.Type != "" && s.Type != "object", s.AdditionalProperties != nil:
		return false
	}
	for _, name := range []string{"kind", "apiVersion"} {
		if p, ok := s.Properties[name]; ok && p.Type != "string" {
			return false
		}
	}
	meta, ok := s.Properties["metadata"]
	return !ok || reflect.DeepEqual(meta, apiextensionsv1.JSONSchemaProps{Type: "object"})
}

// intOrString reports whether a list is that of the types integer and string, which a structural
// schema may have.
func intOrString(list []apiextensionsv1.JSONSchemaProps) bool {
	return reflect.DeepEqual(list, []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, {Type: "string"}})
}

// needed returns the parts of a plain schema that have defaults or rules, with what is around them. There
// is at least one.
func needed(s *apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	out := *s
	if hasDefault(s) || len(s.XValidations) > 0 {
		return out
	}
	out.Properties, out.Items, out.AdditionalProperties = nil, nil, nil
	var name string
	var p apiextensionsv1.JSONSchemaProps // one for all, because it is large and escapes
	for name, p = range s.Properties {
		if needs(&p) {
			if out.Properties == nil {
				out.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
			}
			out.Properties[name] = needed(&p)
		}
	}
	if s.Items != nil && needs(s.Items.Schema) {
		out.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: new(needed(s.Items.Schema))}
	}
	if a := s.AdditionalProperties; a != nil && needs(a.Schema) {
		out.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: new(needed(a.Schema))}
	}
	return out
}

// needs reports whether a schema, or a part of it, has a default or rules.
func needs(s *apiextensionsv1.JSONSchemaProps) bool {
	if s == nil || hasDefault(s) || len(s.XValidations) > 0 {
		return s != nil
	}
	var p apiextensionsv1.JSONSchemaProps
	for _, p = range s.Properties {
		if needs(&p) {
			return true
		}
	}
	return s.Items != nil && needs(s.Items.Schema) || s.AdditionalProperties != nil && needs(s.AdditionalProperties.Schema)
}

// hasDefault reports whether a schema has a default other than null.
func hasDefault(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.Default != nil && len(s.Default.Raw) > 0 && string(s.Default.Raw) != "null"
}
