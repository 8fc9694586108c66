// Package lifecycle reads how long the versions of an operator are supported, and with which
// versions of a platform they are compatible. Catalogs of OpenShift state it in blobs of
// [Schema], which OLM itself does not use: see [OpenShift enhancement 1991].
//
// [OpenShift enhancement 1991]: https://github.com/openshift/enhancements/blob/master/enhancements/olm/lifecycle-and-compatibility.md
package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/blang/semver/v4"
	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/property"
)

// Schema is the schema of the blobs. A package has at most one.
const Schema = "io.openshift.operators.lifecycles.v1alpha1"

// OpenShift is the name of the platform OpenShift.
const OpenShift = "openshift"

// A Package has the lifecycles of the versions of a package.
type Package struct {
	Package  string    `json:"package"`
	Versions []Version `json:"versions,omitempty"`
}

// A Version is the lifecycle of a minor version.
type Version struct {
	// Name is the version, major.minor.
	Name string `json:"name"`
	// Phases are in order, without gaps.
	Phases []Phase `json:"phases,omitempty"`
	// Platforms are those that the version is compatible with. Empty means that nothing is
	// known.
	Platforms []Platform `json:"platformCompatibility,omitempty"`
}

// A Phase is a period of support, such as "Maintenance support".
type Phase struct {
	Name string `json:"name"`
	// Start and End are its first and last day.
	Start Date `json:"startDate"`
	End   Date `json:"endDate"`
}

// A Platform is a platform with its compatible versions, major.minor.
type Platform struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions,omitempty"`
}

// A Date is a day, as YYYY-MM-DD. Dates compare as text.
type Date string

// ParseDate checks that text is a date.
func ParseDate(text string) (Date, error) {
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", fmt.Errorf("%q is not a date: want YYYY-MM-DD, such as 2026-01-31", text)
	}
	return Date(text), nil
}

// Parse reads a blob. The error names the place of what the schema does not permit.
func Parse(blob []byte) (*Package, error) {
	var p Package
	if err := json.Unmarshal(blob, &p); err != nil {
		return nil, err
	}
	for i, v := range p.Versions {
		at := fmt.Sprintf("/versions/%d", i)
		if _, err := property.ParseMinorVersion(v.Name); err != nil {
			return nil, fmt.Errorf("%s/name: %w", at, err)
		}
		if slices.ContainsFunc(p.Versions[:i], func(o Version) bool { return o.Name == v.Name }) {
			return nil, fmt.Errorf("%s/name: version %s is repeated", at, v.Name)
		}
		var last Date
		for j, ph := range v.Phases {
			at := fmt.Sprintf("%s/phases/%d", at, j)
			if _, err := ParseDate(string(ph.Start)); err != nil {
				return nil, fmt.Errorf("%s/startDate: %w", at, err)
			}
			if _, err := ParseDate(string(ph.End)); err != nil {
				return nil, fmt.Errorf("%s/endDate: %w", at, err)
			}
			if ph.End < ph.Start {
				return nil, fmt.Errorf("%s/endDate: %s is before the start %s", at, ph.End, ph.Start)
			}
			if ph.Start <= last {
				return nil, fmt.Errorf("%s/startDate: %s is not after the end %s of the previous phase", at, ph.Start, last)
			}
			last = ph.End
		}
		for j, pl := range v.Platforms {
			for k, text := range pl.Versions {
				if _, err := property.ParseMinorVersion(text); err != nil {
					return nil, fmt.Errorf("%s/platformCompatibility/%d/versions/%d: %w", at, j, k, err)
				}
			}
		}
	}
	return &p, nil
}

// Of returns the lifecycle of the minor version that a semantic version belongs to.
func (p *Package) Of(version string) (*Version, bool) {
	v, err := semver.Parse(version)
	if err != nil {
		return nil, false
	}
	for i := range p.Versions {
		m, err := property.ParseMinorVersion(p.Versions[i].Name)
		if err == nil && m == (property.MinorVersion{Major: v.Major, Minor: v.Minor}) {
			return &p.Versions[i], true
		}
	}
	return nil, false
}

// On returns the phase on a day.
func (v *Version) On(d Date) (Phase, bool) {
	for _, ph := range v.Phases {
		if ph.Start <= d && d <= ph.End {
			return ph, true
		}
	}
	return Phase{}, false
}

// Compatible reports whether the version is compatible with a version of OpenShift. It
// returns false for known if that is not stated.
func (v *Version) Compatible(openshift property.MinorVersion) (ok, known bool) {
	for _, p := range v.Platforms {
		if p.Name != OpenShift {
			continue
		}
		known = true
		for _, text := range p.Versions {
			m, err := property.ParseMinorVersion(text)
			ok = ok || err == nil && m == openshift
		}
	}
	return ok, known
}
