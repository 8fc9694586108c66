package registryv1

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
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

// crdContents checks K232. CEL rules are not compiled.
func crdContents(ctx context.Context, b *Bundle) (out []Problem) {
	for i := range b.CRDs {
		m := &b.CRDs[i]
		if m.Object.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
			continue
		}
		crd := m.Object.DeepCopy()
		crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
		converted := false
		for _, w := range b.webhooks() {
			converted = converted || slices.Contains(w.ConversionCRDs, crd.Name)
		}
		if converted {
			crd.Spec.Conversion, crd.Spec.PreserveUnknownFields = nil, false // OLM sets one, and checks the other
		}
		for j := range crd.Spec.Versions {
			if s := crd.Spec.Versions[j].Schema; s != nil && s.OpenAPIV3Schema != nil {
				withoutRules(s.OpenAPIV3Schema)
			}
		}
		apiextensionsv1.SetDefaults_CustomResourceDefinition(crd)
		apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		var internal apiextensions.CustomResourceDefinition
		if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, &internal, nil); err != nil {
			out = append(out, ours("invalidCRD", crd.Name, m.Pos, "CustomResourceDefinition %q cannot be decoded: %v", crd.Name, err))
			continue
		}
		for _, v := range internal.Spec.Versions {
			if v.Storage {
				internal.Status.StoredVersions = []string{v.Name} // as the API server does for a new one
				break
			}
		}
		errs := crdvalidation.ValidateCustomResourceDefinition(ctx, &internal)
		errs = slices.DeleteFunc(errs, func(e *field.Error) bool { return strings.HasPrefix(e.Field, "status.") })
		out = append(out, invalidObject("invalidCRD", "CustomResourceDefinition", crd.Name, m.Pos, errs)...)
	}
	return out
}

// withoutRules removes the CEL rules of a schema.
func withoutRules(s *apiextensionsv1.JSONSchemaProps) {
	s.XValidations = nil
	one := func(p *apiextensionsv1.JSONSchemaProps) {
		if p != nil {
			withoutRules(p)
		}
	}
	list := func(l []apiextensionsv1.JSONSchemaProps) {
		for i := range l {
			withoutRules(&l[i])
		}
	}
	props := func(m map[string]apiextensionsv1.JSONSchemaProps) {
		for k, p := range m {
			withoutRules(&p)
			m[k] = p
		}
	}
	props(s.Properties)
	props(s.PatternProperties)
	props(s.Definitions)
	list(s.AllOf)
	list(s.AnyOf)
	list(s.OneOf)
	one(s.Not)
	if s.Items != nil {
		one(s.Items.Schema)
		list(s.Items.JSONSchemas)
	}
	if s.AdditionalProperties != nil {
		one(s.AdditionalProperties.Schema)
	}
	if s.AdditionalItems != nil {
		one(s.AdditionalItems.Schema)
	}
	for k, d := range s.Dependencies {
		one(d.Schema)
		s.Dependencies[k] = d
	}
}

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
		out = append(out, invalidObject("invalidMetadata", "Deployment", d.Name, b.csv().At(deploymentPath(i)...), errs)...)
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
		out = append(out, invalidObject("invalidMetadata", "ServiceAccount", name, b.csv().At("spec", "install", "spec"), errs)...)
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
