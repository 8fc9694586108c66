package property

import "encoding/json"

// A Package is the value of an olm.package property: the package and version of
// a bundle.
type Package struct {
	PackageName string `json:"packageName"`
	// Version is a semantic version. Parse does not validate it.
	Version string `json:"version"`
	// Release distinguishes builds of the same version. It is usually empty.
	Release string `json:"release,omitempty"`
}

// A PackageRequired is the value of an olm.package.required property.
type PackageRequired struct {
	PackageName string `json:"packageName"`
	// VersionRange is a range in blang/semver syntax. Parse does not validate it.
	VersionRange string `json:"versionRange"`
}

var (
	shapePackage         = shape{TypePackage, []string{"packageName", "version", "release"}, 2}
	shapePackageRequired = shape{TypePackageRequired, []string{"packageName", "versionRange"}, 2}
)

func parsePackage(raw json.RawMessage) (Package, error) {
	f, err := shapePackage.decode(raw)
	if err != nil {
		return Package{}, err
	}
	name, version, release := f.text()
	return Package{PackageName: name, Version: version, Release: release}, nil
}

// ParseInstalledPackage parses the value of an installed operator's olm.package
// property. As in OLM, which also reads what its older versions wrote, the
// version may be missing, empty or null, and keys are not case-sensitive. The
// error is an [*Error].
func ParseInstalledPackage(raw json.RawMessage) (Package, error) {
	p, wrong := parsePackage(raw)
	if wrong == nil {
		return p, nil
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.PackageName == "" {
		return Package{}, wrong
	}
	return p, nil
}

func parsePackageRequired(raw json.RawMessage) (PackageRequired, error) {
	f, err := shapePackageRequired.decode(raw)
	if err != nil {
		return PackageRequired{}, err
	}
	name, versions, _ := f.text()
	return PackageRequired{PackageName: name, VersionRange: versions}, nil
}
