package bundlelint

import (
	"cmp"

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
	o, err := scheme.Scheme.New(gvk)
	if err != nil {
		return // not an API of Kubernetes
	}
	old, ok := o.(lifecycle)
	if !ok {
		return
	}
	instead := "remove the manifest"
	if r, ok := o.(replaced); ok {
		to := r.APILifecycleReplacement()
		instead = "use " + to.GroupVersion().String()
		if to.Kind != gvk.Kind {
			instead += ", kind " + to.Kind
		}
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

// minor returns a version, or nil for 0.0.
func minor(major, minor int) *version.Version {
	if cmp.Or(major, minor) == 0 {
		return nil
	}
	return version.MajorMinor(uint(major), uint(minor))
}
