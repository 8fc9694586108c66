package resolver

import (
	"fmt"

	"github.com/olmkit/olmkit/property"
)

// A repeatedError reports that a bundle declares an API, or an installed operator its
// package, twice. The running OLM counts properties, not bundles, so the bundle conflicts
// with itself (H26).
type repeatedError struct{ what string }

func (e *repeatedError) Error() string {
	return fmt.Sprintf("it declares %s twice, which counts as two bundles declaring it", e.what)
}

// repeated returns the error for a repeated declaration in the properties of an installed
// operator, or nil.
func repeated(list []property.Property) error {
	if api, ok := property.RepeatedGVK(list); ok {
		return &repeatedError{api.String()}
	}
	seen := map[string]bool{}
	for _, p := range list {
		if p.Type != property.TypePackage {
			continue
		}
		if v, err := property.ParseInstalledPackage(p.Value); err == nil {
			if seen[v.PackageName] {
				return &repeatedError{"package " + v.PackageName}
			}
			seen[v.PackageName] = true
		}
	}
	return nil
}

// repeats returns the error for a repeated declaration of a candidate, or nil.
func (u *universe) repeats(c cand) error {
	if u.isInstalled(c) {
		return u.installed[c].repeats
	}
	_, b := u.entry(c)
	if api, ok := b.RepeatedAPI(); ok {
		return &repeatedError{api.String()}
	}
	return nil
}
