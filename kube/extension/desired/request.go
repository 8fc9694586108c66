package desired

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A SpecError reports an invalid field in the specification of an extension.
// Retrying does not help until the extension changes.
type SpecError struct {
	// Path is the JSON pointer of the field, such as
	// /spec/source/catalog/version.
	Path string
	Err  error
}

// Error returns "path: cause".
func (e *SpecError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *SpecError) Unwrap() error { return e.Err }

// Request converts an extension to a request. The catalogs are not opened: the
// Graph of each is nil. Installed is nil for a new installation. The error is a
// [*SpecError].
func Request(e *api.ClusterExtension, installed *api.BundleMetadata, catalogs []api.ClusterCatalog) (olmv1.Request, error) {
	src := e.Spec.Source
	switch {
	case src.SourceType != api.SourceTypeCatalog:
		return olmv1.Request{}, &SpecError{"/spec/source/sourceType", fmt.Errorf("%q is not supported; use %q", src.SourceType, api.SourceTypeCatalog)}
	case src.Catalog == nil:
		return olmv1.Request{}, &SpecError{"/spec/source/catalog", fmt.Errorf("is missing; specify the package to install")}
	}
	f := src.Catalog
	r := olmv1.Request{
		ID: e.Name, Package: f.PackageName, Version: f.Version, Channels: f.Channels,
		Policy: olmv1.UpgradePolicy(f.UpgradeConstraintPolicy), Selector: Selector(f.Selector),
	}
	if installed != nil {
		r.Installed = &olmv1.Installed{Name: installed.Name, Version: installed.Version}
	}
	for i := range catalogs {
		c := &catalogs[i]
		r.Catalogs = append(r.Catalogs, olmv1.Catalog{
			Name: c.Name, Priority: int(c.Spec.Priority), Labels: c.Labels,
			Unavailable: c.Spec.AvailabilityMode == api.ModeUnavailable || c.DeletionTimestamp != nil,
		})
	}
	if err := r.Selector.Validate(); err != nil {
		return olmv1.Request{}, &SpecError{"/spec/source/catalog/selector", err}
	}
	return r, nil
}

// Selector converts a selector of catalogs.
func Selector(s *metav1.LabelSelector) *olmv1.LabelSelector {
	if s == nil {
		return nil
	}
	out := &olmv1.LabelSelector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, olmv1.LabelRequirement{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
	}
	return out
}

// paths maps the JSON pointers of a request to those of an extension.
var paths = map[string]string{
	"/package":  "/spec/source/catalog/packageName",
	"/version":  "/spec/source/catalog/version",
	"/policy":   "/spec/source/catalog/upgradeConstraintPolicy",
	"/selector": "/spec/source/catalog/selector",
}
