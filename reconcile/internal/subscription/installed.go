package subscription

import (
	"fmt"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// A versionFault is the version of a CSV, which is not one.
type versionFault string

func (v versionFault) Error() string { return v.what() + "; correct it" }

func (v versionFault) what() string {
	return fmt.Sprintf("spec.version %q is not a version and counts as 0.0.0 in upgrades and requirements", string(v))
}

// Installed converts a CSV to an installed operator for a resolution, as OLM does. Its
// properties are those in the annotation that OLM writes. Without that annotation, the
// properties follow from the APIs in the spec, and the package is the one that the
// subscriptions in subs with this installed CSV name, if they name exactly one.
//
// Properties that cannot be read are left out and returned as faults. They affect only this
// operator, while OLM fails the whole namespace. An annotation that cannot be read counts as
// absent.
func Installed(csv *olm.ClusterServiceVersion, subs []*olm.Subscription) (in resolver.Installed, faults []error) { // H7, H22
	in = resolver.Installed{Name: csv.Metadata.Name, Version: csv.Spec.Version}
	if _, err := semver.Parse(in.Version); err != nil && in.Version != "" {
		faults = append(faults, versionFault(in.Version))
		in.Version = ""
	}
	if text, ok := csv.Metadata.Annotations[property.ProjectedAnnotation]; ok {
		list, err := property.ParseProjected([]byte(text))
		if err == nil {
			in.Properties = list
			return in, faults
		}
		faults = append(faults, fmt.Errorf("annotation %s: %w; the operator's APIs are taken from its spec, and other constraints are ignored; fix the annotation", property.ProjectedAnnotation, err))
	}
	var owners []string
	for _, s := range subs {
		if s.Metadata.Namespace == csv.Metadata.Namespace && s.Status.InstalledCSV == in.Name {
			owners = append(owners, s.Spec.Package)
		}
	}
	in = in.Infer(owners...)
	list, err := world.InferProperties(csv)
	if err != nil {
		faults = append(faults, fmt.Errorf("the APIs that the operator provides and requires are unknown: %w; fix the spec", err))
	}
	in.Properties = append(append([]property.Property{}, list...), in.Properties...)
	return in, faults
}
