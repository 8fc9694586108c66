package olmv1

// A RefusalCode is the reason why no bundle was selected.
type RefusalCode string

const (
	RefusedCatalogs   RefusalCode = "no-catalog"      // no catalog is available and selected
	RefusedPackage    RefusalCode = "no-package"      // no catalog has the package
	RefusedChannels   RefusalCode = "no-channel"      // no bundle is in the channels
	RefusedRange      RefusalCode = "no-version"      // no bundle is in the range
	RefusedSuccessors RefusalCode = "no-successor"    // the installed bundle has no successor among them
	RefusedTie        RefusalCode = "tie"             // catalogs of equal priority have different bundles
	RefusedVersion    RefusalCode = "invalid-version" // the chosen bundle has no valid version
	RefusedDependency RefusalCode = "dependency"      // the chosen bundle has dependencies
)
