package constraints

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/property"
)

// An Identity is the package and version of a bundle if the caller knows them
// from elsewhere, as for an installed operator. As in OLM, they count in addition
// to those in the bundle's olm.package properties.
type Identity struct {
	Package string          // "" if unknown
	Version *semver.Version // nil if unknown
}

// A PropertyList is a Bundle that is defined by a list of properties. With
// several olm.package properties, the bundle is in each of the packages and has
// each of the versions. As in OLM, the olm.package property of an installed
// operator may lack a version.
//
// A PropertyList is immutable and safe for concurrent use.
type PropertyList struct {
	props    []property.Property
	packages []string
	versions []semver.Version
	gvks     []property.GVK
	labels   []string
	problems []Problem
	decode   sync.Once
	values   *Values
}

// A Problem is a property that is ignored because its value is invalid.
type Problem struct {
	Index int // in the list of properties
	Err   error
}

// NewPropertyList returns the Bundle with the given properties and identity. The
// caller must not modify props afterwards; id may be nil. Properties with an
// invalid value are visible only to CEL; see Problems.
func NewPropertyList(props []property.Property, id *Identity) *PropertyList {
	apis, packages := 0, 1 // one for the identity
	for _, p := range props {
		switch p.Type {
		case property.TypeGVK:
			apis++
		case property.TypePackage:
			packages++
		}
	}
	l := &PropertyList{
		props:    slices.Clip(props),
		packages: make([]string, 0, packages),
		versions: make([]semver.Version, 0, packages),
		gvks:     make([]property.GVK, 0, apis),
	}
	for i, p := range props {
		if err := l.add(p); err != nil {
			l.problems = append(l.problems, Problem{i, err})
		}
	}
	if id != nil && id.Package != "" {
		l.packages = append(l.packages, id.Package)
	}
	if id != nil && id.Version != nil {
		l.versions = append(l.versions, *id.Version)
	}
	return l
}

func (l *PropertyList) add(p property.Property) error {
	switch p.Type {
	case property.TypePackage:
		v, err := property.ParseInstalledPackage(p.Value)
		if err != nil {
			return err
		}
		l.packages = append(l.packages, v.PackageName)
		if v.Version == "" {
			return nil
		}
		version, err := parseVersion(v.Version)
		if err != nil {
			return &property.Error{Type: p.Type, Path: "/version", Err: err}
		}
		l.versions = append(l.versions, version)
	case property.TypeGVK:
		v, err := property.Parse[property.GVK](p)
		if err != nil {
			return err
		}
		l.gvks = append(l.gvks, v)
	case property.TypeLabel:
		v, err := property.Parse[property.Label](p)
		if err != nil {
			return err
		}
		l.labels = append(l.labels, v.Label)
	}
	return nil
}

// Problems returns the properties of a known type whose value is invalid, in
// list order. The caller must not modify the slice.
func (l *PropertyList) Problems() []Problem { return slices.Clip(l.problems) }

// GVKs returns the APIs that the bundle provides, in list order and with repetitions. The
// caller must not modify the slice.
func (l *PropertyList) GVKs() []property.GVK { return slices.Clip(l.gvks) }

// Provides implements Bundle.
func (l *PropertyList) Provides(g property.GVK) bool { return slices.Contains(l.gvks, g) }

// Packages returns the packages that the bundle is in, in list order. The package
// of the identity is last. The caller must not modify the slice.
func (l *PropertyList) Packages() []string { return slices.Clip(l.packages) }

// InPackage implements Bundle.
func (l *PropertyList) InPackage(name string) bool { return slices.Contains(l.packages, name) }

// VersionIn implements Bundle: it reports whether any of the versions is in r.
func (l *PropertyList) VersionIn(r Range) bool { return slices.ContainsFunc(l.versions, r.Contains) }

// HasLabel implements Bundle.
func (l *PropertyList) HasLabel(label string) bool { return slices.Contains(l.labels, label) }

// Properties implements Bundle.
func (l *PropertyList) Properties() iter.Seq[property.Property] { return slices.Values(l.props) }

// Values returns the properties as CEL sees them. They are decoded on the first
// call.
func (l *PropertyList) Values() *Values {
	l.decode.Do(func() { l.values = NewValues(l.Properties()) })
	return l.values
}

// parseVersion is semver.Parse for versions of olm.package properties.
func parseVersion(s string) (semver.Version, error) {
	v, err := version.Parse(s)
	if err != nil {
		return v, fmt.Errorf("invalid version %s: %s", clip(s), version.Reason(s, err))
	}
	return v, nil
}
