package registryv1

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// The converter of Kubernetes encodes the items of a list in a schema as JSON, and decodes
// that, again for each list around them. That took a third of the time to read and render a
// bundle, because bundles are mostly schemas. The functions here convert the nodes of a schema
// one by one, and leave everything else to the converter. They give the same values.

// fromCRD converts a CRD to its Go type.
func fromCRD(object map[string]any, crd *apiextensionsv1.CustomResourceDefinition) error {
	spec, _ := object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	schemas := make([]*apiextensionsv1.JSONSchemaProps, len(versions))
	bare := slices.Clone(versions)
	for i, v := range versions {
		version, _ := v.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		root, ok := schema["openAPIV3Schema"].(map[string]any)
		if !ok {
			continue
		}
		s := new(apiextensionsv1.JSONSchemaProps)
		if !fromSchema(root, s) {
			continue // the converter returns the error, if it is one
		}
		schemas[i] = s
		schema = maps.Clone(schema)
		delete(schema, "openAPIV3Schema")
		version = maps.Clone(version)
		version["schema"], bare[i] = schema, version
	}
	if len(versions) > 0 {
		spec, object = maps.Clone(spec), maps.Clone(object)
		spec["versions"], object["spec"] = bare, spec
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, crd); err != nil {
		return err
	}
	for i, s := range schemas {
		if s != nil {
			crd.Spec.Versions[i].Schema.OpenAPIV3Schema = s
		}
	}
	return nil
}

// fromSchema converts a schema. It returns false for what only the converter can judge.
func fromSchema(m map[string]any, s *apiextensionsv1.JSONSchemaProps) (ok bool) {
	var rare map[string]any
	for key, v := range m {
		switch key {
		case "id":
			s.ID, ok = v.(string)
		case "$ref":
			s.Ref, ok = pointer[string](v)
		case "description":
			s.Description, ok = v.(string)
		case "type":
			s.Type, ok = v.(string)
		case "format":
			s.Format, ok = v.(string)
		case "title":
			s.Title, ok = v.(string)
		case "default":
			s.Default = new(apiextensionsv1.JSON)
			ok = fromJSON(v, s.Default)
		case "maximum":
			s.Maximum, ok = fromNumber(v)
		case "exclusiveMaximum":
			s.ExclusiveMaximum, ok = v.(bool)
		case "minimum":
			s.Minimum, ok = fromNumber(v)
		case "exclusiveMinimum":
			s.ExclusiveMinimum, ok = v.(bool)
		case "maxLength":
			s.MaxLength, ok = pointer[int64](v)
		case "minLength":
			s.MinLength, ok = pointer[int64](v)
		case "pattern":
			s.Pattern, ok = v.(string)
		case "maxItems":
			s.MaxItems, ok = pointer[int64](v)
		case "minItems":
			s.MinItems, ok = pointer[int64](v)
		case "uniqueItems":
			s.UniqueItems, ok = v.(bool)
		case "multipleOf":
			s.MultipleOf, ok = fromNumber(v)
		case "enum":
			s.Enum, ok = fromList(v, fromJSON)
		case "maxProperties":
			s.MaxProperties, ok = pointer[int64](v)
		case "minProperties":
			s.MinProperties, ok = pointer[int64](v)
		case "required":
			s.Required, ok = fromList(v, fromString)
		case "items":
			s.Items = new(apiextensionsv1.JSONSchemaPropsOrArray)
			s.Items.Schema, ok = fromNode(v)
		case "allOf":
			s.AllOf, ok = fromList(v, fromNodeTo)
		case "oneOf":
			s.OneOf, ok = fromList(v, fromNodeTo)
		case "anyOf":
			s.AnyOf, ok = fromList(v, fromNodeTo)
		case "not":
			s.Not, ok = fromNode(v)
		case "properties":
			s.Properties, ok = fromNodes(v)
		case "additionalProperties":
			s.AdditionalProperties, ok = fromNodeOrBool(v)
		case "nullable":
			s.Nullable, ok = v.(bool)
		case "x-kubernetes-preserve-unknown-fields":
			s.XPreserveUnknownFields, ok = pointer[bool](v)
		case "x-kubernetes-embedded-resource":
			s.XEmbeddedResource, ok = v.(bool)
		case "x-kubernetes-int-or-string":
			s.XIntOrString, ok = v.(bool)
		case "x-kubernetes-list-map-keys":
			s.XListMapKeys, ok = fromList(v, fromString)
		case "x-kubernetes-list-type":
			s.XListType, ok = pointer[string](v)
		case "x-kubernetes-map-type":
			s.XMapType, ok = pointer[string](v)
		case "x-kubernetes-validations", "externalDocs":
			if rare == nil {
				rare = map[string]any{}
			}
			rare[key], ok = v, v != nil
		case "$schema", "patternProperties", "dependencies", "additionalItems", "definitions", "example":
			ok = false // what CRDs may not have
		default:
			ok = true // dropped
		}
		if !ok {
			return false
		}
	}
	if rare == nil {
		return true
	}
	var r apiextensionsv1.JSONSchemaProps
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rare, &r); err != nil {
		return false
	}
	s.XValidations, s.ExternalDocs = r.XValidations, r.ExternalDocs
	return true
}

func pointer[T any](v any) (*T, bool) {
	t, ok := v.(T)
	return &t, ok
}

func fromString(v any, s *string) (ok bool) {
	*s, ok = v.(string)
	return ok
}

func fromNumber(v any) (*float64, bool) {
	if n, ok := v.(int64); ok {
		f := float64(n)
		return &f, true
	}
	return pointer[float64](v)
}

func fromJSON(v any, out *apiextensionsv1.JSON) bool {
	raw, err := json.Marshal(v)
	out.Raw = raw
	return err == nil && v != nil
}

func fromList[T any](v any, from func(any, *T) bool) ([]T, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	out := make([]T, len(list))
	for i, v := range list {
		if !from(v, &out[i]) {
			return nil, false
		}
	}
	return out, true
}

func fromNodeTo(v any, s *apiextensionsv1.JSONSchemaProps) bool {
	m, ok := v.(map[string]any)
	return ok && fromSchema(m, s)
}

func fromNode(v any) (*apiextensionsv1.JSONSchemaProps, bool) {
	s := new(apiextensionsv1.JSONSchemaProps)
	return s, fromNodeTo(v, s)
}

func fromNodes(v any) (map[string]apiextensionsv1.JSONSchemaProps, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	out := make(map[string]apiextensionsv1.JSONSchemaProps, len(m))
	var s apiextensionsv1.JSONSchemaProps // one for all, because it is large and escapes
	for name, v := range m {
		s = apiextensionsv1.JSONSchemaProps{}
		if !fromNodeTo(v, &s) {
			return nil, false
		}
		out[name] = s
	}
	return out, true
}

func fromNodeOrBool(v any) (*apiextensionsv1.JSONSchemaPropsOrBool, bool) {
	if allows, ok := v.(bool); ok {
		return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: allows}, true
	}
	s, ok := fromNode(v)
	return &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: s}, ok
}

// toCRD converts a CRD from its Go type.
func toCRD(crd *apiextensionsv1.CustomResourceDefinition) (map[string]any, error) {
	bare := *crd
	bare.Spec.Versions = slices.Clone(crd.Spec.Versions)
	for i, v := range crd.Spec.Versions {
		if v.Schema != nil {
			bare.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{}
		}
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&bare)
	if err != nil {
		return nil, err
	}
	for i, v := range crd.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		schema, err := toSchema(v.Schema.OpenAPIV3Schema, false)
		if err != nil {
			return nil, err
		}
		out["spec"].(map[string]any)["versions"].([]any)[i].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"] = schema
	}
	return out, nil
}

// toSchema converts a schema. Text is true for a schema that the converter encodes as JSON, in which
// 1.0 becomes the integer 1.
func toSchema(s *apiextensionsv1.JSONSchemaProps, text bool) (map[string]any, error) {
	if s.Schema != "" || len(s.PatternProperties) > 0 || len(s.Dependencies) > 0 || s.AdditionalItems != nil || len(s.Definitions) > 0 || s.Example != nil ||
		s.Items != nil && (s.Items.Schema == nil || len(s.Items.JSONSchemas) > 0) { // what CRDs may not have
		return convertSchema(s, text)
	}
	c := toNode{out: make(map[string]any, 4), text: text}
	if len(s.XValidations) > 0 || s.ExternalDocs != nil {
		rare := apiextensionsv1.JSONSchemaProps{XValidations: s.XValidations, ExternalDocs: s.ExternalDocs}
		if c.out, c.err = convertSchema(&rare, text); c.err != nil {
			return nil, c.err
		}
	}
	toValue(&c, "id", s.ID)
	toPointer(&c, "$ref", s.Ref)
	toValue(&c, "description", s.Description)
	toValue(&c, "type", s.Type)
	toValue(&c, "format", s.Format)
	toValue(&c, "title", s.Title)
	if s.Default != nil {
		c.out["default"] = c.json(s.Default)
	}
	c.number("maximum", s.Maximum)
	toValue(&c, "exclusiveMaximum", s.ExclusiveMaximum)
	c.number("minimum", s.Minimum)
	toValue(&c, "exclusiveMinimum", s.ExclusiveMinimum)
	toPointer(&c, "maxLength", s.MaxLength)
	toPointer(&c, "minLength", s.MinLength)
	toValue(&c, "pattern", s.Pattern)
	toPointer(&c, "maxItems", s.MaxItems)
	toPointer(&c, "minItems", s.MinItems)
	toValue(&c, "uniqueItems", s.UniqueItems)
	c.number("multipleOf", s.MultipleOf)
	toList(&c, "enum", s.Enum, c.json)
	toPointer(&c, "maxProperties", s.MaxProperties)
	toPointer(&c, "minProperties", s.MinProperties)
	toList(&c, "required", s.Required, toString)
	if s.Items != nil {
		c.out["items"] = c.schema(s.Items.Schema, true)
	}
	toList(&c, "allOf", s.AllOf, c.part)
	toList(&c, "oneOf", s.OneOf, c.part)
	toList(&c, "anyOf", s.AnyOf, c.part)
	if s.Not != nil {
		c.out["not"] = c.part(s.Not)
	}
	if len(s.Properties) > 0 {
		properties := make(map[string]any, len(s.Properties))
		var name string
		var p apiextensionsv1.JSONSchemaProps // one for all, because it is large and escapes
		for name, p = range s.Properties {
			properties[name] = c.part(&p)
		}
		c.out["properties"] = properties
	}
	switch a := s.AdditionalProperties; {
	case a == nil:
	case a.Schema != nil:
		c.out["additionalProperties"] = c.schema(a.Schema, true)
	default:
		c.out["additionalProperties"] = a.Allows
	}
	toValue(&c, "nullable", s.Nullable)
	toPointer(&c, "x-kubernetes-preserve-unknown-fields", s.XPreserveUnknownFields)
	toValue(&c, "x-kubernetes-embedded-resource", s.XEmbeddedResource)
	toValue(&c, "x-kubernetes-int-or-string", s.XIntOrString)
	toList(&c, "x-kubernetes-list-map-keys", s.XListMapKeys, toString)
	toPointer(&c, "x-kubernetes-list-type", s.XListType)
	toPointer(&c, "x-kubernetes-map-type", s.XMapType)
	return c.out, c.err
}

// convertSchema converts a schema with the converter of Kubernetes.
func convertSchema(s *apiextensionsv1.JSONSchemaProps, text bool) (map[string]any, error) {
	if !text {
		return runtime.DefaultUnstructuredConverter.ToUnstructured(s)
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, utiljson.Unmarshal(encoded, &out)
}

// A toNode converts a node of a schema.
type toNode struct {
	out  map[string]any
	text bool
	err  error
}

func toValue[T comparable](c *toNode, key string, v T) {
	if v != *new(T) {
		c.out[key] = v
	}
}

func toPointer[T any](c *toNode, key string, v *T) {
	if v != nil {
		c.out[key] = *v
	}
}

func toList[T any](c *toNode, key string, list []T, to func(*T) any) {
	if len(list) == 0 {
		return
	}
	out := make([]any, len(list))
	for i := range list {
		out[i] = to(&list[i])
	}
	c.out[key] = out
}

func toString(s *string) any { return *s }

func (c *toNode) number(key string, f *float64) {
	switch {
	case f == nil:
	case c.text && *f == math.Trunc(*f) && math.Abs(*f) < 1<<53:
		c.out[key] = int64(*f)
	case c.text && math.Abs(*f) >= 1<<53:
		c.out[key] = c.decoded(json.Marshal(*f))
	default:
		c.out[key] = *f
	}
}

func (c *toNode) json(v *apiextensionsv1.JSON) any { return c.decoded(v.MarshalJSON()) }

// decoded returns the value of JSON that was encoded.
func (c *toNode) decoded(encoded []byte, err error) (out any) {
	if err == nil {
		err = utiljson.Unmarshal(encoded, &out)
	}
	if err != nil && c.err == nil {
		c.err = err
	}
	return out
}

func (c *toNode) part(s *apiextensionsv1.JSONSchemaProps) any { return c.schema(s, c.text) }

func (c *toNode) schema(s *apiextensionsv1.JSONSchemaProps, text bool) any {
	out, err := toSchema(s, text)
	if err != nil && c.err == nil {
		c.err = err
	}
	return out
}
