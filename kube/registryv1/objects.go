package registryv1

import (
	"fmt"
	"slices"
	"strings"

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

// objectMetadata checks K233.
func objectMetadata(b *Bundle) (out []Problem) {
	if errs := nameErrors(b.CSV().Name, apivalidation.NameIsDNSSubdomain); len(errs) > 0 {
		out = append(out, invalidObject("invalidMetadata", "ClusterServiceVersion", b.CSV().Name, b.csv().At("metadata", "name"), errs)...)
	}
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
		if errs := nameErrors(name, apivalidation.ValidateServiceAccountName); len(errs) > 0 {
			out = append(out, invalidObject("invalidMetadata", "ServiceAccount", name, b.csv().At("spec", "install", "spec"), errs)...)
		}
	}
	return out
}

// nameErrors returns why a name is not valid.
func nameErrors(name string, validate apivalidation.ValidateNameFunc) (errs field.ErrorList) {
	at := field.NewPath("metadata", "name")
	if name == "" {
		return field.ErrorList{field.Required(at, "a manifest of a bundle needs a name")}
	}
	for _, text := range validate(name, false) {
		errs = append(errs, field.Invalid(at, name, text))
	}
	return errs
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
	errs := nameErrors(o.GetName(), name)
	errs = append(errs, metavalidation.ValidateLabels(o.GetLabels(), at.Child("labels"))...)
	return append(errs, apivalidation.ValidateAnnotations(o.GetAnnotations(), at.Child("annotations"))...)
}
