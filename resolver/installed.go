package resolver

import (
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/property"
)

// Packages returns the packages that the operator is in, each once: Package, then
// those of its olm.package properties. All of them count (H22); the operator goes
// by the first. Without Package that is the package of the last property, as in OLM.
func (in *Installed) Packages() []string {
	return packagesOf(constraints.NewPropertyList(in.Properties, &constraints.Identity{Package: in.Package}))
}

// packagesOf returns the packages of an installed operator, in the order of Packages.
func packagesOf(list *constraints.PropertyList) []string {
	var out []string
	for _, name := range slices.Backward(list.Packages()) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// PackageName returns the first of Packages, "" when there is none.
func (in *Installed) PackageName() string {
	for _, name := range in.Packages() {
		return name
	}
	return ""
}

// Infer returns the operator with the olm.package property that OLM infers for a
// ClusterServiceVersion without the annotation of its properties (H22), from the
// packages of the subscriptions that own it, if these name one. An operator with a
// package or properties, even an empty list, is returned as it is.
func (in Installed) Infer(packages ...string) Installed {
	packages = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(packages))), func(p string) bool { return p == "" })
	if in.Package != "" || in.Properties != nil || len(packages) != 1 {
		return in
	}
	inferred := property.Package{PackageName: packages[0]}
	// To OLM, version 0.0.0 is the same as none.
	if v, err := semver.Parse(in.Version); err == nil && !v.Equals(semver.Version{}) {
		inferred.Version = in.Version
	}
	in.Properties = []property.Property{property.NewPackage(inferred)}
	return in
}
