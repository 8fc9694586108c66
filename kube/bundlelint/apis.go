package bundlelint

import (
	"cmp"

	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
)

// Newest returns the newest version of Kubernetes whose APIs this package knows. It is
// the version that the module k8s.io/api belongs to.
func Newest() *version.Version { return version.MajorMinor(1, 36) }

// The types of deprecated APIs implement lifecycle.
type lifecycle interface {
	APILifecycleDeprecated() (major, minor int)
	APILifecycleRemoved() (major, minor int)
}

// The types of deprecated APIs that have a replacement implement replaced.
type replaced interface {
	APILifecycleReplacement() schema.GroupVersionKind
}

// apis checks K215: Kubernetes serves the APIs that manifests and spec.nativeAPIs use.
func (l *linter) apis() {
	for i := range l.bundle.Others {
		o := &l.bundle.Others[i]
		l.api(o.Object.GroupVersionKind(), o.At("apiVersion"))
	}
	for i, gvk := range l.csv.Object.Spec.NativeAPIs {
		l.api(schema.GroupVersionKind(gvk), l.csv.At("spec", "nativeAPIs", i))
	}
}

func (l *linter) api(gvk schema.GroupVersionKind, at fbc.Pos) {
	old, ok := lifecycleOf(gvk)
	if !ok {
		return
	}
	instead := "remove the manifest"
	if to := replacement(old, gvk); to != "" {
		instead = "use " + to
	}
	what := gvk.GroupVersion().String() + " " + gvk.Kind
	removed, deprecated := minor(old.APILifecycleRemoved()), minor(old.APILifecycleDeprecated())
	switch {
	case removed != nil && l.kubernetes.AtLeast(removed):
		l.report(codes.BundleAPIRemoved, at, "Kubernetes %s and later do not serve %s; %s", removed, what, instead)
	case deprecated != nil && l.kubernetes.AtLeast(deprecated):
		until := ""
		if removed != nil {
			until = ", and " + removed.String() + " removes it"
		}
		l.report(codes.BundleAPIDeprecated, at, "Kubernetes %s deprecates %s%s; %s", deprecated, what, until, instead)
	}
}

// Removed returns the first version of Kubernetes that does not serve a native API, and the
// API to use instead, as "group/version" or "group/version, kind KIND". The latter is empty
// if there is none. Removed returns nil if no known version removes the API, or if it is not
// an API of Kubernetes.
func Removed(gvk schema.GroupVersionKind) (since *version.Version, instead string) {
	old, ok := lifecycleOf(gvk)
	if !ok {
		return nil, ""
	}
	return minor(old.APILifecycleRemoved()), replacement(old, gvk)
}

// lifecycleOf returns the type of a deprecated native API.
func lifecycleOf(gvk schema.GroupVersionKind) (lifecycle, bool) {
	if gvk == apiextensionsv1beta1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
		return &apiextensionsv1beta1.CustomResourceDefinition{}, true
	}
	o, err := scheme.Scheme.New(gvk)
	if err != nil {
		return nil, false // not a Kubernetes API
	}
	old, ok := o.(lifecycle)
	return old, ok
}

// replacement returns the API that replaces a deprecated one.
func replacement(old lifecycle, gvk schema.GroupVersionKind) string {
	r, ok := old.(replaced)
	if !ok {
		return ""
	}
	to := r.APILifecycleReplacement()
	text := to.GroupVersion().String()
	if to.Kind != gvk.Kind {
		text += ", kind " + to.Kind
	}
	return text
}

// minor returns a version, or nil for 0.0.
func minor(major, minor int) *version.Version {
	if cmp.Or(major, minor) == 0 {
		return nil
	}
	return version.MajorMinor(uint(major), uint(minor))
}
