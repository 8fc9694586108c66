// Package version parses semantic versions and explains why text is not one.
package version

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
)

// Parse is semver.Parse, but reads three plain numbers, as in nearly all versions,
// without allocating.
func Parse(s string) (semver.Version, error) {
	var v semver.Version
	rest, ok := s, true
	for i, n := range []*uint64{&v.Major, &v.Minor, &v.Patch} {
		digits := rest
		if i < 2 {
			if digits, rest, ok = strings.Cut(rest, "."); !ok {
				return semver.Parse(s)
			}
		}
		if len(digits) == 0 || len(digits) > 18 || len(digits) > 1 && digits[0] == '0' {
			return semver.Parse(s)
		}
		for _, c := range []byte(digits) {
			if c < '0' || c > '9' {
				return semver.Parse(s)
			}
			*n = 10**n + uint64(c-'0')
		}
	}
	return v, nil
}

// Error returns an error that quotes text, which is not a semantic version, and states
// why. err is the error of Parse.
func Error(text string, err error) error {
	return fmt.Errorf("%q is not a semantic version: %s", text, Reason(text, err))
}

// Reason returns why text is not a semantic version, or how to write it. err is the error
// of Parse.
func Reason(text string, err error) string {
	core := text
	if i := strings.IndexAny(text, "-+"); i >= 0 {
		core = text[:i]
	}
	switch reason := err.Error(); {
	case strings.HasPrefix(text, "v") || strings.HasPrefix(text, "V"):
		return fmt.Sprintf("want three numbers, such as 1.2.3 or 1.2.3-rc.1, without the %q", text[:1])
	case strings.Count(core, ".") != 2:
		return "want three numbers, such as 1.2.3 or 1.2.3-rc.1"
	default:
		return strings.ToLower(reason[:1]) + reason[1:]
	}
}

// Lacks compares the oldest version of Kubernetes that a bundle supports with that of a cluster, and
// reports whether the cluster is older. It returns both without what follows the three numbers. A version that is
// unknown or cannot be read lacks nothing.
func Lacks(least, cluster string) (want, have semver.Version, lacks bool) {
	want, bad := semver.ParseTolerant(least)
	have, err := semver.ParseTolerant(cluster)
	if bad != nil || err != nil {
		return want, have, false
	}
	have.Pre, have.Build, want.Pre, want.Build = nil, nil, nil, nil
	return want, have, have.LT(want)
}

// Rebuilds reports whether a version counts as older than another one only because of its prerelease, in which some
// publishers write the number of the build: 1.0.1-1 after 1.0.1.
func Rebuilds(v, old semver.Version) bool {
	return v.LT(old) && v.FinalizeVersion() == old.FinalizeVersion()
}
