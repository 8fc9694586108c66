package resolver

import (
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/property"
)

// A repeatedError says that a bundle states an API, or an installed operator its
// package, twice. The running OLM counts the properties, not the bundles, so that
// it conflicts with itself (H26).
type repeatedError struct{ what string }

func (e *repeatedError) Error() string {
	return fmt.Sprintf("it states %s twice, which counts as two bundles that state it", e.what)
}

// repeated returns the error for what the properties of an installed operator
// state twice, or nil.
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

// repeats returns the error for what a candidate states twice, or nil.
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

// says tells why the bundle cannot be chosen, for the end of a sentence.
func (f *Unusable) says() string {
	if errors.As(f.Err, new(*repeatedError)) {
		return "conflicts with itself: " + f.Err.Error()
	}
	return "cannot be read: " + f.Err.Error()
}
