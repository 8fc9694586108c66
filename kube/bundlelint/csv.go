package bundlelint

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	semverreason "github.com/olmkit/olmkit/internal/version"
)

// minKubeVersion checks K218: spec.minKubeVersion is set and valid.
func (l *linter) minKubeVersion() {
	text := l.csv.Object.Spec.MinKubeVersion
	if text == "" {
		l.report(codes.BundleNoMinKubeVersion, l.csv.At("spec"), "spec.minKubeVersion is missing, so OLM installs the operator on clusters of any age; set it to the oldest version that works")
		return
	}
	if _, err := semver.Parse(text); err != nil {
		l.report(codes.BundleMinKubeVersion, l.csv.At("spec", "minKubeVersion"), "spec.minKubeVersion %w", semverreason.Error(text, err))
	}
}

// maxLabel is how many bytes the value of a label may have.
const maxLabel = 63

// name checks K234.
func (l *linter) name() {
	if err := LongName(l.csv.Object.Name); err != nil && len(l.csv.Object.Name) <= validation.DNS1123SubdomainMaxLength {
		l.report(codes.BundleMetadata, l.csv.At("metadata", "name"), "%w", err)
	}
}

// LongName returns an error if the name of a CSV is too long for classic OLM, which makes it the
// value of a label.
func LongName(csv string) error { // K234
	if len(csv) <= maxLabel {
		return nil
	}
	return fmt.Errorf("the name of the CSV has %d bytes; classic OLM labels the objects of an operator with it (olm.owner), and a label has at most %d", len(csv), maxLabel)
}

// serviceNames checks K233 for services whose name starts with a digit.
func (l *linter) serviceNames() {
	since := version.MajorMinor(1, 36)
	if l.kubernetes.AtLeast(since) {
		return
	}
	for i := range l.bundle.Others {
		o := &l.bundle.Others[i]
		if name := o.Object.GetName(); o.Object.GetKind() == "Service" && name != "" && name[0] >= '0' && name[0] <= '9' {
			l.report(codes.BundleMetadata, o.At("metadata", "name"), "the name of Service %q starts with a digit, which Kubernetes %s and later accept", name, since)
		}
	}
}

// owned checks K236: the CSV owns each CRD of the bundle, once and as it is.
func (l *linter) owned() {
	crds := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for i := range l.bundle.CRDs {
		crds[l.bundle.CRDs[i].Object.Name] = &l.bundle.CRDs[i].Object
	}
	type id struct{ name, version string }
	names, seen := map[string]bool{}, map[id]bool{}
	for i, d := range l.csv.Object.Spec.CustomResourceDefinitions.Owned {
		at := func(field string) fbc.Pos {
			return l.csv.At("spec", "customresourcedefinitions", "owned", i, field)
		}
		if seen[id{d.Name, d.Version}] {
			l.report(codes.BundleCRDTwice, at("name"), "the CSV owns version %s of CustomResourceDefinition %q twice; remove one entry", d.Version, d.Name)
		}
		names[d.Name], seen[id{d.Name, d.Version}] = true, true
		crd := crds[d.Name]
		if crd == nil || crd.APIVersion != apiextensionsv1.SchemeGroupVersion.String() {
			continue // see K11 and K212
		}
		if d.Kind != crd.Spec.Names.Kind {
			l.report(codes.BundleCRDMissing, at("kind"), "the CSV owns kind %q of CustomResourceDefinition %q, whose kind is %s", d.Kind, d.Name, crd.Spec.Names.Kind)
		}
		if !slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == d.Version && v.Served }) {
			l.report(codes.BundleCRDMissing, at("version"), "the CSV owns version %q of CustomResourceDefinition %q, which does not serve it, so classic OLM never installs the bundle", d.Version, d.Name)
		}
	}
	for i := range l.bundle.CRDs {
		if m := &l.bundle.CRDs[i]; !names[m.Object.Name] {
			l.report(codes.BundleCRDUnowned, m.Pos, "the CSV does not own CustomResourceDefinition %q, so operators that require its API do not find this one; add it to spec.customresourcedefinitions.owned", m.Object.Name)
		}
	}
}

// installModes checks K219: each mode is known and listed once, and at least one is
// supported.
func (l *linter) installModes() {
	at := func(i int) []any { return []any{"spec", "installModes", i} }
	some := false
	first := map[v1alpha1.InstallModeType]bool{}
	for i, m := range l.csv.Object.Spec.InstallModes {
		switch m.Type {
		case v1alpha1.InstallModeTypeAllNamespaces, v1alpha1.InstallModeTypeMultiNamespace,
			v1alpha1.InstallModeTypeOwnNamespace, v1alpha1.InstallModeTypeSingleNamespace:
			some = some || m.Supported
		default:
			l.report(codes.BundleInstallModes, l.csv.At(at(i)...), "install mode %q does not exist; write AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace", m.Type)
			continue
		}
		if first[m.Type] {
			l.report(codes.BundleInstallModes, l.csv.At(at(i)...), "install mode %s is listed twice; remove one entry", m.Type)
		}
		first[m.Type] = true
	}
	if !some {
		l.report(codes.BundleInstallModes, l.csv.At("spec", "installModes"), "the CSV supports no install mode, so neither classic OLM nor OLM v1 can install it; set supported: true for at least one")
	}
}

// The annotations that set the namespace which user interfaces suggest.
const (
	suggestedName     = "operatorframework.io/suggested-namespace"
	suggestedTemplate = "operatorframework.io/suggested-namespace-template"
)

// suggestedNamespace checks K220: the annotations are usable and agree.
func (l *linter) suggestedNamespace() {
	name, named := l.csv.Object.Annotations[suggestedName]
	if named {
		if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
			l.report(codes.BundleSuggestedNamespace, l.csv.At("metadata", "annotations", suggestedName), "%s %q is not the name of a namespace: %s", suggestedName, name, errs[0])
		}
	}
	text, ok := l.csv.Object.Annotations[suggestedTemplate]
	if !ok {
		return
	}
	at := l.csv.At("metadata", "annotations", suggestedTemplate)
	var template struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	switch err := json.Unmarshal([]byte(text), &template); {
	case err != nil:
		l.report(codes.BundleSuggestedNamespace, at, "%s is not JSON for a Namespace: %w", suggestedTemplate, err)
	case template.Kind != "Namespace" || template.APIVersion != "v1":
		l.report(codes.BundleSuggestedNamespace, at, "%s holds %s %s; it must be a v1 Namespace", suggestedTemplate, template.APIVersion, template.Kind)
	case len(validation.IsDNS1123Label(template.Metadata.Name)) > 0:
		l.report(codes.BundleSuggestedNamespace, at, "%s has the name %q, which is not the name of a namespace", suggestedTemplate, template.Metadata.Name)
	case named && name != template.Metadata.Name:
		l.report(codes.BundleSuggestedNamespace, at, "%s suggests %q, but %s suggests %q; make them equal", suggestedTemplate, template.Metadata.Name, suggestedName, name)
	}
}
