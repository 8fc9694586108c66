package olmv1

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	masterminds "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// maxVersionRange is the longest text of a [VersionRange] in bytes.
const maxVersionRange = 4096

// A VersionRange is a set of versions in Masterminds/semver syntax, which OLM v1
// expects in the version of a request: comparisons separated by commas or
// spaces must all hold, "||" separates alternatives, and there are wildcards
// (1.2.x), tildes (~1.2), carets (^1.2) and hyphens (1.2 - 1.4). A catalog's
// versionRange and skipRange have another syntax: [constraints.Range].
//
// A group of comparisons contains prereleases only if it names one. The zero
// value contains every version.
type VersionRange struct {
	text string
	c    *masterminds.Constraints
}

// ParseVersionRange parses a range. If the text has the other syntax, the error
// suggests an equivalent.
func ParseVersionRange(text string) (VersionRange, error) { // C2
	if len(text) > maxVersionRange {
		return VersionRange{}, fmt.Errorf("invalid version range of %d bytes: at most %d are allowed", len(text), maxVersionRange)
	}
	c, err := masterminds.NewConstraint(text)
	if err != nil {
		return VersionRange{}, fmt.Errorf("invalid version range %q: %w", text, rangeAdvice(text))
	}
	return VersionRange{text, c}, nil
}

var touching = lazyregexp.New(`([0-9A-Za-z*])([<>=!~^])`)

// rangeAdvice returns an error that states how to fix a range that does not parse.
func rangeAdvice(text string) error { // H17
	trimmed := strings.TrimSpace(text)
	for _, try := range []struct{ with, why string }{
		{strings.ReplaceAll(text, "==", "="), "use a single = for equality"},
		{touching().ReplaceAllString(text, "$1 $2"), "separate comparisons with a comma or a space"},
		{strings.ReplaceAll(text, "V", "v"), "use a lowercase v, or none"},
		{strings.ReplaceAll(text, "&&", ","), "use a comma instead of &&"},
		{strings.ReplaceAll(text, " | ", " || "), "separate alternatives with ||"},
		{strings.Trim(trimmed, ",|"), "use a comma or || only between comparisons"},
	} {
		if try.with == text || try.with == "" {
			continue
		}
		if _, err := masterminds.NewConstraint(try.with); err == nil {
			return fmt.Errorf("%s: write %q", try.why, strings.TrimSpace(try.with))
		}
	}
	switch {
	case trimmed == "":
		return errors.New("it is empty; omit it to allow any version")
	case strings.ContainsAny(trimmed, "[]()"):
		return errors.New("intervals in brackets are not supported; write >=1.0.0, <2.0.0")
	}
	if _, err := constraints.ParseRange(text); err == nil {
		return errors.New("it uses the syntax of a catalog's skipRange or versionRange (blang/semver); " +
			"use the syntax of Masterminds/semver, such as >=1.2.0, <2.0.0 or ^1.2 or 1.2.x")
	}
	return errors.New("want comparisons such as >=1.2.0, <2.0.0 or ^1.2 or ~1.2.3 or 1.2.x, with || between alternatives")
}

// Contains reports whether the version is in the range. It ignores build
// metadata, including a release.
func (r VersionRange) Contains(v semver.Version) bool {
	if r.c == nil {
		return true
	}
	pre := make([]string, len(v.Pre))
	for i, p := range v.Pre {
		pre[i] = p.String()
	}
	return r.c.Check(masterminds.New(v.Major, v.Minor, v.Patch, strings.Join(pre, "."), ""))
}

// String returns the text that the range was parsed from.
func (r VersionRange) String() string { return r.text }

// IsZero reports whether r is the zero value, which contains every version.
func (r VersionRange) IsZero() bool { return r.c == nil }

var literal = lazyregexp.New(`\d+(\.\d+(\.\d+(-[0-9A-Za-z.-]+)?)?)?`)

// literals returns the versions that the text of a range names, completed with
// zeros.
func (r VersionRange) literals() []semver.Version {
	var out []semver.Version
	for _, s := range literal().FindAllString(r.text, -1) {
		if v, err := semver.ParseTolerant(s); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// isVersion reports whether the range is a single version.
func (r VersionRange) isVersion() bool {
	_, err := semver.Parse(strings.TrimLeft(r.text, "=v "))
	return err == nil
}

// isEmpty reports whether no version is in the range. Every part of a range begins at a version that its
// text names, next to one, or at zero.
func (r VersionRange) isEmpty() bool {
	if r.c == nil {
		return false
	}
	try := []semver.Version{{}}
	for _, v := range r.literals() {
		try = append(try, v, semver.Version{Major: v.Major, Minor: v.Minor, Patch: v.Patch},
			semver.Version{Major: v.Major, Minor: v.Minor, Patch: v.Patch + 1},
			semver.Version{Major: v.Major, Minor: v.Minor + 1}, semver.Version{Major: v.Major + 1})
		if len(v.Pre) > 0 {
			after := v
			after.Pre = append(slices.Clone(v.Pre), semver.PRVersion{IsNum: true})
			try = append(try, after)
		}
	}
	return !slices.ContainsFunc(try, r.Contains)
}

// withPrereleases returns a range that also has the prereleases of the versions of r, or "".
func (r VersionRange) withPrereleases() string {
	text := literal().ReplaceAllStringFunc(r.text, func(v string) string {
		if strings.Contains(v, "-") {
			return v
		}
		for strings.Count(v, ".") < 2 {
			v += ".0"
		}
		return v + "-0"
	})
	if _, err := ParseVersionRange(text); err != nil || text == r.text {
		return ""
	}
	return text
}
