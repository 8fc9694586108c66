package apicheck

import (
	"context"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Conversion returns what an API server refuses in how a CRD is converted and pruned.
func Conversion(crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	c, spec := &check{}, field.NewPath("spec")
	if crd.Spec.PreserveUnknownFields {
		c.invalid(spec.Child("preserveUnknownFields"), true, "must not be true; set x-kubernetes-preserve-unknown-fields in the schema instead")
	}
	c.conversion(crd.Spec.Conversion, spec.Child("conversion"))
	return c.errs
}

// CRD returns what else an API server refuses in a CRD. Defaults are not checked with CEL rules.
func CRD(crd *apiextensionsv1.CustomResourceDefinition) field.ErrorList {
	c := &check{}
	meta, spec := field.NewPath("metadata"), field.NewPath("spec")
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != want {
		c.invalid(meta.Child("name"), crd.Name, "must be spec.names.plural+\".\"+spec.group, "+want)
	}
	c.invalid(meta.Child("name"), crd.Name, apivalidation.NameIsDNSSubdomain(crd.Name, false)...)
	c.errs = append(c.errs, metavalidation.ValidateLabels(crd.Labels, meta.Child("labels"))...)
	c.errs = append(c.errs, apivalidation.ValidateAnnotations(crd.Annotations, meta.Child("annotations"))...)
	switch group := crd.Spec.Group; {
	case group == "":
		c.required(spec.Child("group"), "")
	case !strings.Contains(group, "."):
		c.invalid(spec.Child("group"), group, "should be a domain with at least one dot")
	default:
		c.invalid(spec.Child("group"), group, validation.IsDNS1123Subdomain(group)...)
	}
	c.oneOf(spec.Child("scope"), string(crd.Spec.Scope), true, "Cluster", "Namespaced")
	c.names(&crd.Spec.Names, spec.Child("names"))
	stored := 0
	seen := map[string]bool{}
	for i := range crd.Spec.Versions {
		v, at := &crd.Spec.Versions[i], spec.Child("versions").Index(i)
		if v.Storage {
			stored++
		}
		if seen[v.Name] {
			c.errs = append(c.errs, field.Duplicate(at.Child("name"), v.Name))
		}
		seen[v.Name] = true
		c.version(v, at)
	}
	if stored != 1 {
		c.invalid(spec.Child("versions"), "", "must have exactly one version marked as storage version")
	}
	return c.errs
}

func (c *check) names(n *apiextensionsv1.CustomResourceDefinitionNames, at *field.Path) {
	label := func(at *field.Path, v string) { c.invalid(at, v, validation.IsDNS1035Label(strings.ToLower(v))...) }
	lower := func(at *field.Path, v string) { c.invalid(at, v, validation.IsDNS1035Label(v)...) }
	if n.Plural == "" {
		c.required(at.Child("plural"), "")
	} else {
		lower(at.Child("plural"), n.Plural)
	}
	if n.Kind == "" {
		c.required(at.Child("kind"), "")
	} else {
		label(at.Child("kind"), n.Kind)
	}
	if n.Singular != "" { // else the kind
		lower(at.Child("singular"), n.Singular)
	}
	if n.ListKind != "" {
		label(at.Child("listKind"), n.ListKind)
	}
	if n.Kind != "" && n.Kind == n.ListKind {
		c.invalid(at.Child("listKind"), n.ListKind, "kind and listKind may not be the same")
	}
	for i, v := range n.ShortNames {
		lower(at.Child("shortNames").Index(i), v)
	}
	for i, v := range n.Categories {
		lower(at.Child("categories").Index(i), v)
	}
}

func (c *check) conversion(x *apiextensionsv1.CustomResourceConversion, at *field.Path) {
	if x == nil {
		return
	}
	c.oneOf(at.Child("strategy"), string(x.Strategy), true, "None", "Webhook")
	hook := at.Child("webhook")
	if x.Strategy != apiextensionsv1.WebhookConverter {
		c.forbid(x.Webhook != nil && (x.Webhook.ClientConfig != nil || len(x.Webhook.ConversionReviewVersions) > 0), at, "webhook", "should not be set when strategy is not set to Webhook")
		return
	}
	if x.Webhook == nil {
		c.required(hook, "required when strategy is set to Webhook")
		return
	}
	config := x.Webhook.ClientConfig
	switch at := hook.Child("clientConfig"); {
	case config == nil || (config.URL == nil) == (config.Service == nil):
		c.required(at, "exactly one of url or service is required")
	case config.URL != nil:
		u, err := url.Parse(*config.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" {
			c.invalid(at.Child("url"), *config.URL, "must be an https URL without user, query and fragment")
		}
	default:
		s, at := config.Service, at.Child("service")
		if s.Name == "" {
			c.required(at.Child("name"), "")
		}
		if s.Namespace == "" {
			c.required(at.Child("namespace"), "")
		}
		if s.Port != nil {
			c.invalid(at.Child("port"), *s.Port, validation.IsValidPortNum(int(*s.Port))...)
		}
	}
	versions := x.Webhook.ConversionReviewVersions
	at = hook.Child("conversionReviewVersions")
	if !slices.Contains(versions, "v1") && !slices.Contains(versions, "v1beta1") {
		c.invalid(at, versions, "must include at least one of v1, v1beta1")
	}
	for i, v := range versions {
		c.invalid(at.Index(i), v, validation.IsDNS1035Label(v)...)
		if slices.Contains(versions[:i], v) {
			c.invalid(at.Index(i), v, "duplicate version")
		}
	}
}

func (c *check) version(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) {
	c.invalid(at.Child("name"), v.Name, validation.IsDNS1035Label(v.Name)...)
	if w := v.DeprecationWarning; w != nil {
		if at := at.Child("deprecationWarning"); !v.Deprecated {
			c.invalid(at, *w, "can only be set for deprecated versions")
		} else if *w == "" || len(*w) > 256 || strings.ContainsFunc(*w, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }) {
			c.invalid(at, *w, "must have 1 to 256 printable characters")
		}
	}
	for i, col := range v.AdditionalPrinterColumns {
		at := at.Child("additionalPrinterColumns").Index(i)
		if col.Name == "" {
			c.required(at.Child("name"), "")
		}
		c.oneOf(at.Child("type"), col.Type, true, "boolean", "date", "integer", "number", "string")
		c.oneOf(at.Child("format"), col.Format, false, "byte", "date", "date-time", "double", "float", "int32", "int64", "password")
		c.path(at.Child("jsonPath"), col.JSONPath)
	}
	if v.Subresources != nil && v.Subresources.Scale != nil {
		s, at := v.Subresources.Scale, at.Child("subresources", "scale")
		c.path(at.Child("specReplicasPath"), s.SpecReplicasPath, ".spec.")
		c.path(at.Child("statusReplicasPath"), s.StatusReplicasPath, ".status.")
		if p := s.LabelSelectorPath; p != nil && *p != "" {
			c.path(at.Child("labelSelectorPath"), *p, ".spec.", ".status.")
		}
	}
	schema := at.Child("schema", "openAPIV3Schema")
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		c.required(schema, "schemas are required")
		return
	}
	structural := c.schema(v.Schema.OpenAPIV3Schema, v.Subresources != nil && v.Subresources.Status != nil, len(v.SelectableFields) > 0, schema)
	if structural != nil {
		c.selectable(v.SelectableFields, structural, at.Child("selectableFields"))
	}
}

// path checks a path, which begins with one of the prefixes if there are any.
func (c *check) path(at *field.Path, path string, prefixes ...string) {
	switch {
	case path == "":
		c.required(at, "")
	case path[0] != '.':
		c.invalid(at, path, "must be a simple json path starting with .")
	case len(prefixes) > 0 && !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) }):
		c.invalid(at, path, "must begin with "+strings.Join(prefixes, " or "))
	}
}

// maxSelectableFields is the API server's limit.
const maxSelectableFields = 8

func (c *check) selectable(fields []apiextensionsv1.SelectableField, s *structuralschema.Structural, at *field.Path) {
	seen := map[string]bool{}
	for i, f := range fields {
		at := at.Index(i).Child("jsonPath")
		if f.JSONPath == "" {
			c.required(at, "")
			continue
		}
		path, target, err := schemacel.ValidFieldPath(f.JSONPath, s, schemacel.WithFieldPathAllowArrayNotation(false))
		switch {
		case err != nil:
			c.invalid(at, f.JSONPath, fmt.Sprintf("is an invalid path: %v", err))
			continue
		case path.Root().String() == "metadata":
			c.invalid(at, f.JSONPath, "must not point to fields in metadata")
		case target == nil || !slices.Contains([]string{"string", "boolean", "integer"}, target.Type):
			c.invalid(at, f.JSONPath, "must point to a field of type string, boolean or integer")
		case seen[path.String()]:
			c.errs = append(c.errs, field.Duplicate(at, f.JSONPath))
		}
		seen[path.String()] = true
	}
	if len(seen) > maxSelectableFields {
		c.errs = append(c.errs, field.TooMany(at, len(seen), maxSelectableFields))
	}
}

// schema checks the schema of a version. It returns the structural schema if all of it is needed, or nil.
func (c *check) schema(root *apiextensionsv1.JSONSchemaProps, status, whole bool, at *field.Path) *structuralschema.Structural {
	before := len(c.errs)
	c.ruled, c.defaults, c.complex = false, false, false
	if status {
		c.rootFields(root, at)
	}
	c.forbid(root.Nullable, at, "nullable", "cannot be true at the root")
	c.node(root, at, schemaPlace{root: true})
	if len(c.errs) == before && !c.complex && !whole {
		if !c.ruled && !c.defaults {
			return nil
		}
		root = new(needed(root))
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(root, &internal, nil); err != nil {
		c.invalid(at, "", err.Error())
		return nil
	}
	structural, err := structuralschema.NewStructural(&internal)
	switch {
	case err != nil && len(c.errs) > before: // it repeats them
		return nil
	case err != nil:
		c.invalid(at, "", err.Error())
		return nil
	}
	if len(c.errs) == before && c.complex {
		c.errs = append(c.errs, structuralschema.ValidateStructural(at, structural)...)
	}
	if len(c.errs) == before && c.defaults {
		plain := structural
		if c.ruled {
			plain = structural.DeepCopy()
			without := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool { s.XValidations = nil; return true }}
			without.Visit(plain)
		}
		errs, err := defaulting.ValidateDefaults(context.Background(), at, plain, true, true) // without rules, nothing in it waits
		if c.errs = append(c.errs, errs...); err != nil {
			c.invalid(at, "", err.Error())
		}
	}
	if c.ruled && len(c.errs) == before {
		c.celRules(structural, at)
	}
	return structural
}

// besideStatus are the fields that the root of a schema may have if there is the subresource status.
var besideStatus = []string{
	"Description", "Type", "Format", "Title", "Maximum", "ExclusiveMaximum", "Minimum", "ExclusiveMinimum", "MaxLength", "MinLength", "Pattern", "MaxItems", "MinItems",
	"UniqueItems", "MultipleOf", "Required", "Items", "Properties", "ExternalDocs", "Example", "XPreserveUnknownFields", "XValidations",
}

func (c *check) rootFields(s *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		empty := f.IsZero() || (f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f.Len() == 0
		if name := v.Type().Field(i).Name; !empty && !slices.Contains(besideStatus, name) {
			c.invalid(at, name, "the root of a schema with the subresource status may not have this field")
		}
	}
}

// A schemaPlace is where a schema is.
type schemaPlace struct {
	root     bool
	nested   bool   // below allOf, anyOf, oneOf or not
	meta     bool   // in the type or the metadata of a resource
	defaults string // why there may be no default, or empty
}

// node checks a schema and its parts.
func (c *check) node(s *apiextensionsv1.JSONSchemaProps, at *field.Path, in schemaPlace) {
	c.complex = c.complex || !in.nested && !plain(s, in.root)
	c.ruled, c.defaults = c.ruled || len(s.XValidations) > 0, c.defaults || hasDefault(s)
	if s.Type != "" && !slices.Contains(schemaTypes, s.Type) {
		c.oneOf(at.Child("type"), s.Type, false, schemaTypes...)
	}
	if s.Pattern != "" {
		if err := c.pattern(s.Pattern); err != nil {
			c.invalid(at.Child("pattern"), s.Pattern, fmt.Sprintf("must be a valid regular expression: %v", err))
		}
	}
	if s.Type == "array" && s.Items == nil {
		c.required(at.Child("items"), "an array needs them")
	}
	c.forbid(hasDefault(s) && in.defaults != "", at, "default", "must not be set "+in.defaults)
	c.forbid(s.ID != "", at, "id", "id is not supported")
	c.forbid(s.AdditionalItems != nil, at, "additionalItems", "additionalItems is not supported")
	c.forbid(len(s.PatternProperties) > 0, at, "patternProperties", "patternProperties is not supported")
	c.forbid(len(s.Definitions) > 0, at, "definitions", "definitions is not supported")
	c.forbid(len(s.Dependencies) > 0, at, "dependencies", "dependencies is not supported")
	c.forbid(s.Ref != nil, at, "$ref", "$ref is not supported")
	c.forbid(s.Items != nil && len(s.Items.JSONSchemas) > 0, at, "items", "items must be a schema object and not an array")
	c.forbid(s.UniqueItems, at, "uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	c.forbid(in.meta && s.XEmbeddedResource, at, "x-kubernetes-embedded-resource", "must not be used inside of resource meta")
	if x := s.XPreserveUnknownFields; x != nil && !*x {
		c.invalid(at.Child("x-kubernetes-preserve-unknown-fields"), false, "must be true or undefined")
	}
	c.mapType(s, at)
	c.listType(s, at)
	below := schemaPlace{nested: in.nested, meta: in.meta, defaults: in.defaults}
	if len(s.Properties) > 0 {
		at := at.Child("properties")
		var name string
		var p apiextensionsv1.JSONSchemaProps // one for all, because it is large and escapes
		for name, p = range s.Properties {    // the errors are sorted
			inner := below
			if (in.root || s.XEmbeddedResource) && (name == "metadata" || name == "kind" || name == "apiVersion") {
				if inner.meta = true; in.root {
					inner.defaults = "in top-level " + name
				}
			}
			c.node(&p, at.Key(name), inner)
		}
	}
	nested := below
	nested.nested = true
	c.nodes(s.AllOf, at, "allOf", nested)
	c.nodes(s.AnyOf, at, "anyOf", nested)
	c.nodes(s.OneOf, at, "oneOf", nested)
	if s.Not != nil {
		c.node(s.Not, at.Child("not"), nested)
	}
	if s.Items != nil && s.Items.Schema != nil {
		c.node(s.Items.Schema, at.Child("items"), below)
	}
	if a := s.AdditionalProperties; a != nil {
		c.forbid(len(s.Properties) > 0 && (!a.Allows || a.Schema != nil), at, "additionalProperties", "additionalProperties and properties are mutual exclusive")
		if in.meta {
			below.defaults = "inside additionalProperties applying to object metadata"
		}
		if a.Schema != nil {
			c.node(a.Schema, at.Child("additionalProperties"), below)
		}
	}
}

// nodes checks a list of schemas.
func (c *check) nodes(list []apiextensionsv1.JSONSchemaProps, at *field.Path, name string, in schemaPlace) {
	for i := range list {
		c.node(&list[i], at.Child(name).Index(i), in)
	}
}

// pattern returns why a regular expression is not valid, or nil.
func (c *check) pattern(text string) error {
	err, ok := c.patterns[text]
	if !ok {
		if c.patterns == nil {
			c.patterns = map[string]error{}
		}
		_, err = regexp.Compile(text)
		c.patterns[text] = err
	}
	return err
}

func (c *check) mapType(s *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	if s.XMapType == nil {
		return
	}
	if s.Type != "object" {
		c.invalid(at.Child("type"), s.Type, "must be object if x-kubernetes-map-type is specified")
	}
	c.oneOf(at.Child("x-kubernetes-map-type"), *s.XMapType, true, "atomic", "granular")
}

func (c *check) listType(s *apiextensionsv1.JSONSchemaProps, at *field.Path) {
	if s.XListType == nil && len(s.XListMapKeys) == 0 {
		return
	}
	typ, keys := at.Child("x-kubernetes-list-type"), at.Child("x-kubernetes-list-map-keys")
	if len(s.XListMapKeys) > 0 && (s.XListType == nil || *s.XListType != "map") {
		c.required(typ, "must be map if x-kubernetes-list-map-keys is non-empty")
	}
	if s.XListType == nil {
		return
	}
	if s.Type != "array" {
		c.invalid(at.Child("type"), s.Type, "must be array if x-kubernetes-list-type is specified")
	}
	c.oneOf(typ, *s.XListType, true, "atomic", "set", "map")
	if s.Items == nil || s.Items.Schema == nil || *s.XListType != "set" && *s.XListType != "map" {
		if *s.XListType == "map" {
			c.required(at.Child("items"), "must have a schema if x-kubernetes-list-type is map")
		}
		return
	}
	items, at := s.Items.Schema, at.Child("items")
	c.forbid(items.Nullable, at, "nullable", "cannot be nullable when x-kubernetes-list-type is "+*s.XListType)
	if *s.XListType == "set" {
		if items.Type == "array" && items.XListType != nil && *items.XListType != "atomic" || items.Type == "object" && (items.XMapType == nil || *items.XMapType != "atomic") {
			c.invalid(at, items.Type, "must be atomic as item of a list with x-kubernetes-list-type=set")
		}
		return
	}
	if len(s.XListMapKeys) == 0 {
		c.required(keys, "must not be empty if x-kubernetes-list-type is map")
	}
	if items.Type != "object" {
		c.invalid(at.Child("type"), items.Type, "must be object if parent array's x-kubernetes-list-type is map")
		return
	}
	for i, k := range s.XListMapKeys {
		p, ok := items.Properties[k]
		property := at.Child("properties").Key(k)
		switch {
		case slices.Contains(s.XListMapKeys[:i], k):
			c.errs = append(c.errs, field.Duplicate(keys, k))
		case !ok:
			c.invalid(keys, k, "entries must all be names of item properties")
		case p.Type == "array" || p.Type == "object":
			c.invalid(property.Child("type"), p.Type, "must be a scalar type if parent array's x-kubernetes-list-type is map")
		case p.Nullable:
			c.forbid(true, property, "nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
		case !hasDefault(&p) && !slices.Contains(items.Required, k):
			c.required(property.Child("default"), "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property")
		}
	}
}

// schemaTypes are the types of schemas.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}
