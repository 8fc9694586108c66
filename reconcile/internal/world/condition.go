package world

// The types of a subscription's conditions.
const (
	CatalogSourcesUnhealthy = "CatalogSourcesUnhealthy"
	InstallPlanMissing      = "InstallPlanMissing"
	InstallPlanPending      = "InstallPlanPending"
	InstallPlanFailed       = "InstallPlanFailed"
	ResolutionFailed        = "ResolutionFailed"
	BundleUnpackFailed      = "BundleUnpackFailed"
	Deprecated              = "Deprecated"
	PackageDeprecated       = "PackageDeprecated"
	ChannelDeprecated       = "ChannelDeprecated"
	BundleDeprecated        = "BundleDeprecated"
)

// The types of the conditions of a bundle lookup in an install plan.
const (
	BundleLookupPending = "BundleLookupPending"
	BundleLookupFailed  = "BundleLookupFailed"
)
