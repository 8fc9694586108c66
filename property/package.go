package property

import "encoding/json"

// A Package is the value of an olm.package property: which package a bundle
// belongs to and which version of it the bundle is.
type Package struct {
	PackageName string `json:"packageName"`
	// Version is a semantic version; ParsePackage does not check it.
	Version string `json:"version"`
	// Release tells two builds of one version apart (A8). It is usually empty.
	Release string `json:"release,omitempty"`
}

// A PackageRequired is the value of an olm.package.required property.
type PackageRequired struct {
	PackageName string `json:"packageName"`
	// VersionRange is a range in blang/semver syntax (C2), which
	// ParsePackageRequired does not check.
	VersionRange string `json:"versionRange"`
}

var (
	shapePackage         = shape{TypePackage, []string{"packageName", "version", "release"}, 2}
	shapePackageRequired = shape{TypePackageRequired, []string{"packageName", "versionRange"}, 2}
)

// ParsePackage reads the value of an olm.package property. The name and the
// version must be there and not empty; the release may be absent. The error is
// an [*Error].
func ParsePackage(raw json.RawMessage) (Package, error) {
	f, err := shapePackage.decode(raw)
	if err != nil {
		return Package{}, err
	}
	return Package{PackageName: string(f[0]), Version: string(f[1]), Release: string(f[2])}, nil
}

// ParseInstalledPackage reads the value of an olm.package property of an installed
// operator as OLM does, which reads what older versions of it wrote (H22): the
// version may be missing, empty or null, and the case of keys does not matter. The
// error is an [*Error].
func ParseInstalledPackage(raw json.RawMessage) (Package, error) {
	p, wrong := ParsePackage(raw)
	if wrong == nil {
		return p, nil
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.PackageName == "" {
		return Package{}, wrong
	}
	return p, nil
}

// ParsePackageRequired reads the value of an olm.package.required property.
// The name and the range must be there and not empty. The error is an [*Error].
func ParsePackageRequired(raw json.RawMessage) (PackageRequired, error) {
	f, err := shapePackageRequired.decode(raw)
	if err != nil {
		return PackageRequired{}, err
	}
	return PackageRequired{PackageName: string(f[0]), VersionRange: string(f[1])}, nil
}

// NewPackage returns the olm.package property for p; an empty release is left out.
func NewPackage(p Package) Property {
	return build(&shapePackage, p.PackageName, p.Version, p.Release)
}

// NewPackageRequired returns the olm.package.required property for p.
func NewPackageRequired(p PackageRequired) Property {
	return build(&shapePackageRequired, p.PackageName, p.VersionRange)
}
