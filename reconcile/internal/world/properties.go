package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// Properties returns the properties of an installed CSV: those in its
// annotations or, without annotations, those that follow from the APIs it owns and
// requires.
func Properties(csv *olm.ClusterServiceVersion) ([]property.Property, error) {
	a := csv.Metadata.Annotations
	if text, ok := a[property.ProjectedAnnotation]; ok {
		list, err := property.ParseProjected([]byte(text))
		return annotated(csv, property.ProjectedAnnotation, list, err)
	}
	list, err := InferProperties(csv)
	if err != nil {
		return nil, err
	}
	if text, ok := a[property.Annotation]; ok {
		own, err := property.ParseList([]byte(text))
		own, err = annotated(csv, property.Annotation, own, err)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(own, func(p property.Property) bool { return p.Type == property.TypePackage }) {
			return own, nil // all of the bundle's, not only the author's
		}
		list = append(list, own...)
	}
	return list, nil
}

// annotated adds the name of the annotation to an error.
func annotated(csv *olm.ClusterServiceVersion, name string, list []property.Property, err error) ([]property.Property, error) {
	if err != nil {
		return nil, fmt.Errorf("%s: annotation %s: %w", csv.Key(), name, err)
	}
	return list, nil
}

// InferProperties returns the properties that follow from the APIs that a CSV owns and
// requires.
func InferProperties(csv *olm.ClusterServiceVersion) ([]property.Property, error) {
	owned, err := operatorgroup.OwnAPIs(csv)
	if err != nil {
		return nil, err
	}
	var list []property.Property
	for _, g := range owned {
		list = append(list, property.New(property.TypeGVK, g))
	}
	for _, d := range csv.Spec.CRDs.Required {
		if _, group, ok := strings.Cut(d.Name, "."); ok {
			list = append(list, property.New(property.TypeGVKRequired, property.GVK{Group: group, Version: d.Version, Kind: d.Kind}))
		}
	}
	for _, d := range csv.Spec.APIServices.Required {
		list = append(list, property.New(property.TypeGVKRequired, property.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind}))
	}
	return list, nil
}

// PackageOf returns the package that a CSV's properties name, if any.
func PackageOf(list []property.Property) string {
	return (&resolver.Installed{Properties: list}).PackageName()
}
