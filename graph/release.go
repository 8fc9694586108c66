package graph

import (
	"cmp"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// maxReleaseSize is the maximum length of a release in characters.
const maxReleaseSize = 20

// A VersionRelease is a version as OLM v1 reads it. Build metadata that is a valid
// release orders builds of one version. Other build metadata is ignored. Classic OLM
// has no releases.
type VersionRelease struct {
	Version semver.Version // without the release
	Release []semver.PRVersion
}

// ReadRelease returns the version with its build metadata read as a release:
// dot-separated alphanumerics, at most 20 characters, without leading
// zeros in numbers. Other build metadata stays in the version.
func ReadRelease(v semver.Version) VersionRelease {
	if len(v.Build) == 0 || len(strings.Join(v.Build, ".")) > maxReleaseSize {
		return VersionRelease{Version: v}
	}
	release := make([]semver.PRVersion, len(v.Build))
	for i, s := range v.Build {
		p, err := semver.NewPRVersion(s)
		if err != nil {
			return VersionRelease{Version: v}
		}
		release[i] = p
	}
	v.Build = nil
	return VersionRelease{Version: v, Release: release}
}

// parseRelease parses a version and reads its release.
func parseRelease(text string) (VersionRelease, error) {
	v, err := semver.Parse(text)
	if err != nil {
		return VersionRelease{}, err
	}
	return ReadRelease(v), nil
}

// Compare orders by version, then release. A version without a release comes first;
// releases are ordered like prereleases. It returns -1, 0 or +1.
func (v VersionRelease) Compare(o VersionRelease) int {
	if c := v.Version.Compare(o.Version); c != 0 {
		return c
	}
	if len(v.Release) == 0 || len(o.Release) == 0 {
		return cmp.Compare(len(v.Release), len(o.Release))
	}
	return slices.CompareFunc(v.Release, o.Release, func(a, b semver.PRVersion) int { return a.Compare(b) })
}

// VersionRelease returns the version of the bundle as OLM v1 reads it, and false if the
// bundle has no valid version.
func (b Bundle) VersionRelease() (VersionRelease, bool) {
	if !b.HasVersion() {
		return VersionRelease{}, false
	}
	return ReadRelease(b.Version()), true
}

// HasVersion reports whether the bundle has a valid version.
func (b Bundle) HasVersion() bool { return b.rec().flags&flagVersion != 0 }
