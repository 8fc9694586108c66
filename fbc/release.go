package fbc

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/property"
)

// maxRelease is the longest release, as in the CSV's schema.
const maxRelease = 20

// checkRelease returns an error for an invalid release. A valid one is dot-separated
// alphanumerics, at most 20 characters, without leading zeros (A8).
func checkRelease(release string) error {
	if len(release) > maxRelease {
		return fmt.Errorf("release %q has %d characters; at most %d are allowed", release, len(release), maxRelease)
	}
	for part := range strings.SplitSeq(release, ".") {
		if _, err := semver.NewPRVersion(part); err != nil {
			return fmt.Errorf("release %q is invalid; write dot-separated letters, digits and '-', and numbers without leading zeros", release)
		}
	}
	return nil
}

// checkReleased checks the version and the name of a bundle with a release (A8).
func checkReleased(name string, p property.Package, v semver.Version) error {
	if len(v.Build) > 0 {
		return fmt.Errorf("version %q has build metadata in addition to the release %q; keep one of them", v, p.Release)
	}
	if want := p.PackageName + "-v" + v.String() + "-" + p.Release; name != want {
		return fmt.Errorf("a bundle with release %q must be named %q", p.Release, want)
	}
	return nil
}
