package registryv1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/kube/internal/apicheck"
)

const (
	// maxFieldErrors is the number of errors that are reported for one object.
	maxFieldErrors = 10
	// maxBadValue is the length of a value that is shown.
	maxBadValue = 80
)

// An origin finds the place of a field of an object.
type origin struct {
	at     func(path ...any) fbc.Pos
	prefix []any // the path of the object
}

// find returns the place of a field such as spec.containers[0].resources.limits[cpu].
func (o origin) find(name string) fbc.Pos {
	path := slices.Clip(o.prefix)
	for name != "" {
		var step string
		if key, ok := strings.CutPrefix(name, "["); ok {
			if step, name, _ = strings.Cut(key, "]"); step != "" {
				if n, err := strconv.Atoi(step); err == nil {
					path = append(path, n)
				} else {
					path = append(path, step)
				}
			}
		} else {
			end := strings.IndexAny(name, ".[")
			if end < 0 {
				end = len(name)
			}
			path, name = append(path, name[:end]), name[end:]
		}
		name = strings.TrimPrefix(name, ".")
	}
	return o.at(path...)
}

// invalidObject returns a problem for each of the first errors of an object.
func invalidObject(code, kind, name string, from origin, errs field.ErrorList) (out []Problem) {
	type message struct{ text, field string }
	var list []message
	for _, e := range errs {
		text := e.ErrorBody()
		switch v := e.BadValue.(type) {
		case int, int32, int64:
		default: // structures of Go, and what is too long
			if v, _ := v.(string); v == "" || len(v) > maxBadValue {
				text = strings.TrimSuffix(fmt.Sprintf("%s: %s", e.Type, e.Detail), ": ")
			}
		}
		list = append(list, message{e.Field + ": " + text, e.Field})
	}
	slices.SortFunc(list, func(a, b message) int { return strings.Compare(a.text, b.text) })
	list = slices.Compact(list)
	for i, m := range list {
		if i == maxFieldErrors {
			m.text = fmt.Sprintf("%d more errors", len(list)-i)
		}
		out = append(out, ours(code, name, from.find(m.field), "the API server would refuse %s %q: %s", kind, name, m.text))
		if i == maxFieldErrors {
			break
		}
	}
	return out
}

// objectMetadata checks K233.
func objectMetadata(b *Bundle) (out []Problem) {
	csv, meta := b.CSV(), field.NewPath("metadata")
	errs := nameErrors(csv.Name, apivalidation.NameIsDNSSubdomain)
	errs = append(errs, metavalidation.ValidateLabels(csv.Labels, meta.Child("labels"))...)
	errs = append(errs, apivalidation.ValidateAnnotations(csv.Annotations, meta.Child("annotations"))...) // templates get them
	out = append(out, invalidObject("invalidMetadata", "ClusterServiceVersion", csv.Name, origin{at: b.csv().At}, errs)...)
	for i := range b.Others {
		o := &b.Others[i].Object
		if extraScope(o.GetKind()) == unsupported {
			continue
		}
		out = append(out, invalidObject("invalidMetadata", o.GetKind(), o.GetName(), origin{at: b.Others[i].At}, metadataErrors(o))...)
	}
	for i, d := range b.deployments() {
		errs := metavalidation.ValidateLabels(d.Label, field.NewPath("label"))
		out = append(out, invalidObject("invalidMetadata", "Deployment", d.Name, origin{b.csv().At, deploymentAt(i)}, errs)...)
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
			out = append(out, invalidObject("invalidMetadata", "ServiceAccount", name, origin{at: func(...any) fbc.Pos { return b.csv().At("spec", "install", "spec") }}, errs)...)
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
		name = apivalidation.NameIsDNSLabel // as of Kubernetes 1.36; see package bundlelint
	case "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding":
		name = func(name string, _ bool) []string { return apicheck.PathSegment(name) }
	}
	at := field.NewPath("metadata")
	errs := nameErrors(o.GetName(), name)
	errs = append(errs, metavalidation.ValidateLabels(o.GetLabels(), at.Child("labels"))...)
	return append(errs, apivalidation.ValidateAnnotations(o.GetAnnotations(), at.Child("annotations"))...)
}

// objectContents checks K238: the API server accepts what the bundle adds to a cluster.
func objectContents(b *Bundle) (out []Problem) {
	for i := range b.deployments() {
		d := &b.deployments()[i]
		spec := d.Spec
		if slices.ContainsFunc(b.webhooks(), func(w v1alpha1.WebhookDescription) bool { return w.DeploymentName == d.Name }) ||
			slices.ContainsFunc(b.CSV().Spec.APIServiceDefinitions.Owned, func(s v1alpha1.APIServiceDescription) bool { return s.DeploymentName == d.Name }) {
			spec.Template.Spec.Volumes = withCertificates(spec.Template.Spec.Volumes)
		}
		errs := apicheck.Deployment(&spec, field.NewPath("spec"))
		out = append(out, invalidObject("invalidObject", "Deployment", d.Name, origin{b.csv().At, deploymentAt(i)}, errs)...)
	}
	out = append(out, permissionRules(b, !b.supports(v1alpha1.InstallModeTypeAllNamespaces))...)
	for i := range b.Others {
		m := &b.Others[i]
		out = append(out, invalidObject("invalidObject", m.Object.GetKind(), m.Object.GetName(), origin{at: m.At}, apicheck.Object(&m.Object))...)
	}
	return out
}

// permissionRules checks the rules of the CSV. Those of permissions become Roles if they are
// namespaced, and ClusterRoles otherwise.
func permissionRules(b *Bundle, namespaced bool) (out []Problem) {
	strategy := &b.CSV().Spec.InstallStrategy.StrategySpec
	for _, list := range []struct {
		field      string
		entries    []v1alpha1.StrategyDeploymentPermissions
		namespaced bool
	}{{"permissions", strategy.Permissions, namespaced}, {"clusterPermissions", strategy.ClusterPermissions, false}} {
		kind := "the ClusterRole of service account"
		if list.namespaced {
			kind = "the Role of service account"
		}
		for i := range list.entries {
			from := origin{b.csv().At, []any{"spec", "install", "spec", list.field, i}}
			errs := apicheck.Rules(list.entries[i].Rules, list.namespaced, field.NewPath("rules"))
			out = append(out, invalidObject("invalidObject", kind, accountName(&list.entries[i]), from, errs)...)
		}
	}
	return out
}

// crdContents checks K232.
func crdContents(b *Bundle) (out []Problem) {
	converted := map[string]bool{} // rendering replaces their conversion and checks preserveUnknownFields (K40)
	for _, w := range b.CSV().Spec.WebhookDefinitions {
		for _, name := range w.ConversionCRDs {
			converted[name] = true
		}
	}
	for i := range b.CRDs {
		m := &b.CRDs[i]
		if m.Object.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
			continue
		}
		var errs field.ErrorList
		if m.shared != nil {
			errs = m.shared.errors()
		} else {
			errs = apicheck.CRD(&m.Object)
		}
		if !converted[m.Object.Name] {
			errs = append(slices.Clip(errs), apicheck.Conversion(&m.Object)...)
		}
		out = append(out, invalidObject("invalidCRD", crdKind, m.Object.Name, origin{at: m.At}, errs)...)
	}
	return out
}
