package extension

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube/extension/olmv1"
	"github.com/olmkit/olmkit/resolver"
)

// A SpecError says what is wrong with the specification of an extension. Only a
// change of it helps.
type SpecError struct {
	// Path is the JSON pointer of the fault: /spec/source/catalog/version.
	Path string
	Err  error
}

// Error returns "path: what is wrong".
func (e *SpecError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *SpecError) Unwrap() error { return e.Err }

// Request returns what an extension asks of the catalogs, none of which is opened
// yet: a SelectCatalog's Graph is nil. Installed is nil for a fresh installation.
// The error is a [*SpecError].
func Request(e *olmv1.ClusterExtension, installed *olmv1.BundleMetadata, catalogs []olmv1.ClusterCatalog) (resolver.SelectRequest, error) {
	src := e.Spec.Source
	switch {
	case src.SourceType != olmv1.SourceTypeCatalog:
		return resolver.SelectRequest{}, &SpecError{"/spec/source/sourceType", fmt.Errorf("%q is not %q, the only type of source", src.SourceType, olmv1.SourceTypeCatalog)}
	case src.Catalog == nil:
		return resolver.SelectRequest{}, &SpecError{"/spec/source/catalog", fmt.Errorf("is missing; name the package to install")}
	}
	f := src.Catalog
	r := resolver.SelectRequest{
		ID: e.Name, Package: f.PackageName, Version: f.Version, Channels: f.Channels,
		Policy: resolver.UpgradePolicy(f.UpgradeConstraintPolicy), Selector: selector(f.Selector),
	}
	if installed != nil {
		r.Installed = &resolver.InstalledBundle{Name: installed.Name, Version: installed.Version}
	}
	for i := range catalogs {
		c := &catalogs[i]
		r.Catalogs = append(r.Catalogs, resolver.SelectCatalog{
			Name: c.Name, Priority: int(c.Spec.Priority), Labels: c.Labels,
			Unavailable: c.Spec.AvailabilityMode == olmv1.ModeUnavailable || c.DeletionTimestamp != nil,
		})
	}
	if err := r.Selector.Validate(); err != nil {
		return resolver.SelectRequest{}, &SpecError{"/spec/source/catalog/selector", err}
	}
	return r, nil
}

func selector(s *metav1.LabelSelector) *resolver.LabelSelector {
	if s == nil {
		return nil
	}
	out := &resolver.LabelSelector{MatchLabels: s.MatchLabels}
	for _, r := range s.MatchExpressions {
		out.MatchExpressions = append(out.MatchExpressions, resolver.LabelRequirement{Key: r.Key, Operator: resolver.LabelOperator(r.Operator), Values: r.Values})
	}
	return out
}

// paths leads from a fault of a request to its place in the extension.
var paths = map[string]string{
	"/package":  "/spec/source/catalog/packageName",
	"/version":  "/spec/source/catalog/version",
	"/policy":   "/spec/source/catalog/upgradeConstraintPolicy",
	"/selector": "/spec/source/catalog/selector",
}
