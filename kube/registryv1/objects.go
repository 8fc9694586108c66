package registryv1

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/olmkit/olmkit/fbc"
)

const (
	// maxFieldErrors is the number of errors that are reported for one object.
	maxFieldErrors = 10
	// maxBadValue is the length of a value that is shown.
	maxBadValue = 80
)

// invalidObject returns a problem for each of the first errors of an object.
func invalidObject(code, kind, name string, at fbc.Pos, errs field.ErrorList) (out []Problem) {
	var texts []string
	for _, e := range errs {
		text := e.ErrorBody()
		if v, _ := e.BadValue.(string); v == "" || len(v) > maxBadValue { // others are structures of Go
			text = strings.TrimSuffix(fmt.Sprintf("%s: %s", e.Type, e.Detail), ": ")
		}
		texts = append(texts, e.Field+": "+text)
	}
	slices.Sort(texts)
	texts = slices.Compact(texts)
	for i, text := range texts {
		if i == maxFieldErrors {
			text = fmt.Sprintf("%d more errors", len(texts)-i)
		}
		out = append(out, ours(code, name, at, "the API server would refuse %s %q: %s", kind, name, text))
		if i == maxFieldErrors {
			break
		}
	}
	return out
}

// crdContents checks K232.
func crdContents(b *Bundle) (out []Problem) {
	for i := range b.CRDs {
		m := &b.CRDs[i]
		if m.Object.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
			continue
		}
		var errs field.ErrorList
		if m.shared != nil {
			errs = m.shared.errors()
		} else {
			errs = crdErrors(&m.Object)
		}
		out = append(out, invalidObject("invalidCRD", crdKind, m.Object.Name, m.Pos, errs)...)
	}
	return out
}

// crdErrors returns what the API server refuses in a CRD: its names, versions and schemas. The
// validation package of the API server would link its network stack.
func crdErrors(crd *apiextensionsv1.CustomResourceDefinition) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	required := func(at *field.Path, v string) {
		if v == "" {
			errs = append(errs, field.Required(at, ""))
		}
	}
	required(spec.Child("group"), crd.Spec.Group)
	required(spec.Child("names", "plural"), crd.Spec.Names.Plural)
	required(spec.Child("names", "kind"), crd.Spec.Names.Kind)
	if want := crd.Spec.Names.Plural + "." + crd.Spec.Group; crd.Name != want {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), crd.Name, fmt.Sprintf("must be spec.names.plural+\".\"+spec.group, %s", want)))
	}
	for _, text := range apivalidation.NameIsDNSSubdomain(crd.Name, false) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), crd.Name, text))
	}
	if s := crd.Spec.Scope; s != apiextensionsv1.ClusterScoped && s != apiextensionsv1.NamespaceScoped {
		errs = append(errs, field.NotSupported(spec.Child("scope"), s, []apiextensionsv1.ResourceScope{apiextensionsv1.ClusterScoped, apiextensionsv1.NamespaceScoped}))
	}
	stored := 0
	seen := map[string]bool{}
	for i := range crd.Spec.Versions {
		v, at := &crd.Spec.Versions[i], spec.Child("versions").Index(i)
		if v.Storage {
			stored++
		}
		if seen[v.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), v.Name))
		}
		seen[v.Name] = true
		for _, text := range validation.IsDNS1035Label(v.Name) {
			errs = append(errs, field.Invalid(at.Child("name"), v.Name, text))
		}
		at = at.Child("schema", "openAPIV3Schema")
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			errs = append(errs, field.Required(at, "schemas are required"))
			continue
		}
		errs = append(errs, schemaErrors(v.Schema.OpenAPIV3Schema, at)...)
	}
	if stored != 1 {
		errs = append(errs, field.Invalid(spec.Child("versions"), "", "must have exactly one version marked as storage version"))
	}
	return errs
}

// schemaErrors returns what the API server refuses in the schema of a version: what is not
// structural, unknown types, invalid patterns and arrays without items.
func schemaErrors(root *apiextensionsv1.JSONSchemaProps, at *field.Path) (errs field.ErrorList) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(root, &internal, nil); err != nil {
		return field.ErrorList{field.Invalid(at, "", err.Error())}
	}
	var walk func(s *apiextensions.JSONSchemaProps, at *field.Path)
	props := func(m map[string]apiextensions.JSONSchemaProps, at *field.Path) {
		for k, p := range m { // the errors are sorted
			walk(&p, at.Key(k))
		}
	}
	list := func(l []apiextensions.JSONSchemaProps, at *field.Path) {
		for i := range l {
			walk(&l[i], at.Index(i))
		}
	}
	walk = func(s *apiextensions.JSONSchemaProps, at *field.Path) {
		if s == nil {
			return
		}
		if s.Type != "" && !slices.Contains(schemaTypes, s.Type) {
			errs = append(errs, field.NotSupported(at.Child("type"), s.Type, schemaTypes))
		}
		if _, err := regexp.Compile(s.Pattern); err != nil {
			errs = append(errs, field.Invalid(at.Child("pattern"), s.Pattern, fmt.Sprintf("must be a valid regular expression: %v", err)))
		}
		if s.Type == "array" && s.Items == nil {
			errs = append(errs, field.Required(at.Child("items"), "an array needs them"))
		}
		props(s.Properties, at.Child("properties"))
		list(s.AllOf, at.Child("allOf"))
		list(s.AnyOf, at.Child("anyOf"))
		list(s.OneOf, at.Child("oneOf"))
		walk(s.Not, at.Child("not"))
		if s.Items != nil {
			walk(s.Items.Schema, at.Child("items"))
		}
		if s.AdditionalProperties != nil {
			walk(s.AdditionalProperties.Schema, at.Child("additionalProperties"))
		}
	}
	walk(&internal, at)
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return append(errs, field.Invalid(at, "", err.Error()))
	}
	if len(errs) == 0 { // otherwise it repeats them
		errs = structuralschema.ValidateStructural(at, structural)
	}
	return errs
}

// schemaTypes are the types of schemas.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// objectMetadata checks K233.
func objectMetadata(b *Bundle) (out []Problem) {
	for i := range b.Others {
		o := &b.Others[i].Object
		if extraScope(o.GetKind()) == unsupported {
			continue
		}
		out = append(out, invalidObject("invalidMetadata", o.GetKind(), o.GetName(), b.Others[i].Pos, metadataErrors(o))...)
	}
	for i, d := range b.deployments() {
		errs := metavalidation.ValidateLabels(d.Label, field.NewPath("label"))
		template := field.NewPath("spec", "template", "metadata")
		errs = append(errs, metavalidation.ValidateLabels(d.Spec.Template.Labels, template.Child("labels"))...)
		errs = append(errs, apivalidation.ValidateAnnotations(d.Spec.Template.Annotations, template.Child("annotations"))...)
		if len(errs) > 0 {
			out = append(out, invalidObject("invalidMetadata", "Deployment", d.Name, b.csv().At(deploymentPath(i)...), errs)...)
		}
	}
	seen := map[string]bool{}
	strategy := b.CSV().Spec.InstallStrategy.StrategySpec
	for _, p := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		name := p.ServiceAccountName
		if seen[name] || name == "" {
			continue
		}
		seen[name] = true
		var errs field.ErrorList
		for _, text := range apivalidation.ValidateServiceAccountName(name, false) {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), name, text))
		}
		if len(errs) > 0 {
			out = append(out, invalidObject("invalidMetadata", "ServiceAccount", name, b.csv().At("spec", "install", "spec"), errs)...)
		}
	}
	return out
}

// metadataErrors returns what the API server refuses in the metadata of a manifest.
func metadataErrors(o *unstructured.Unstructured) field.ErrorList {
	name := apivalidation.NameIsDNSSubdomain
	switch o.GetKind() {
	case "Service":
		name = apivalidation.NameIsDNS1035Label
	case "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
		name = func(name string, _ bool) (out []string) {
			if name == "." || name == ".." || strings.ContainsAny(name, "/%") {
				out = append(out, `must not be "." or "..", or contain "/" or "%"`)
			}
			return out
		}
	}
	at := field.NewPath("metadata")
	var errs field.ErrorList
	if o.GetName() == "" {
		errs = append(errs, field.Required(at.Child("name"), "a manifest of a bundle needs a name"))
	} else {
		for _, text := range name(o.GetName(), false) {
			errs = append(errs, field.Invalid(at.Child("name"), o.GetName(), text))
		}
	}
	errs = append(errs, metavalidation.ValidateLabels(o.GetLabels(), at.Child("labels"))...)
	return append(errs, apivalidation.ValidateAnnotations(o.GetAnnotations(), at.Child("annotations"))...)
}
