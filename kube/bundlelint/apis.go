package bundlelint

import (
	"cmp"
	"sync"

	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	admissionregistrationv1alpha1 "k8s.io/api/admissionregistration/v1alpha1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	authenticationv1alpha1 "k8s.io/api/authentication/v1alpha1"
	authenticationv1beta1 "k8s.io/api/authentication/v1beta1"
	authorizationv1beta1 "k8s.io/api/authorization/v1beta1"
	batchv1beta1 "k8s.io/api/batch/v1beta1"
	certificatesv1alpha1 "k8s.io/api/certificates/v1alpha1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1beta1 "k8s.io/api/discovery/v1beta1"
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	flowcontrolv1beta1 "k8s.io/api/flowcontrol/v1beta1"
	flowcontrolv1beta2 "k8s.io/api/flowcontrol/v1beta2"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	nodev1beta1 "k8s.io/api/node/v1beta1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	rbacv1beta1 "k8s.io/api/rbac/v1beta1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1alpha1 "k8s.io/api/storage/v1alpha1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"

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

// deprecatedTypes returns the types of the API versions that have deprecated types. It is a part
// of the scheme of client-go, which is built whenever a program starts that links it.
var deprecatedTypes = sync.OnceValue(func() *runtime.Scheme {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1beta1.AddToScheme,
		admissionregistrationv1alpha1.AddToScheme,
		admissionregistrationv1beta1.AddToScheme,
		apidiscoveryv2beta1.AddToScheme,
		appsv1beta1.AddToScheme,
		appsv1beta2.AddToScheme,
		authenticationv1alpha1.AddToScheme,
		authenticationv1beta1.AddToScheme,
		authorizationv1beta1.AddToScheme,
		batchv1beta1.AddToScheme,
		certificatesv1alpha1.AddToScheme,
		certificatesv1beta1.AddToScheme,
		coordinationv1alpha2.AddToScheme,
		coordinationv1beta1.AddToScheme,
		corev1.AddToScheme,
		corev1.AddToScheme,
		discoveryv1beta1.AddToScheme,
		eventsv1beta1.AddToScheme,
		extensionsv1beta1.AddToScheme,
		flowcontrolv1beta1.AddToScheme,
		flowcontrolv1beta2.AddToScheme,
		flowcontrolv1beta3.AddToScheme,
		networkingv1beta1.AddToScheme,
		nodev1beta1.AddToScheme,
		policyv1beta1.AddToScheme,
		rbacv1beta1.AddToScheme,
		resourcev1alpha3.AddToScheme,
		resourcev1beta1.AddToScheme,
		resourcev1beta2.AddToScheme,
		schedulingv1beta1.AddToScheme,
		storagev1alpha1.AddToScheme,
		storagev1beta1.AddToScheme,
		storagemigrationv1beta1.AddToScheme,
	} {
		if err := add(types); err != nil {
			panic(err) // cannot happen: types of different versions do not conflict
		}
	}
	return types
})

// lifecycleOf returns the type of a deprecated native API.
func lifecycleOf(gvk schema.GroupVersionKind) (lifecycle, bool) {
	if gvk == apiextensionsv1beta1.SchemeGroupVersion.WithKind("CustomResourceDefinition") {
		return &apiextensionsv1beta1.CustomResourceDefinition{}, true
	}
	o, err := deprecatedTypes().New(gvk)
	if err != nil {
		return nil, false // not deprecated, or not an API of Kubernetes
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
