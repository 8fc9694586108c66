package extension

// The types of the conditions of a ClusterExtension.
const (
	typeInstalled         = "Installed"
	typeProgressing       = "Progressing" // also of a ClusterCatalog
	typeDeprecated        = "Deprecated"
	typePackageDeprecated = "PackageDeprecated"
	typeChannelDeprecated = "ChannelDeprecated"
	typeBundleDeprecated  = "BundleDeprecated"
)

// typeServing is the type of the condition that reports whether a
// ClusterCatalog is served.
const typeServing = "Serving"

// The reasons of these conditions.
const (
	reasonSucceeded          = "Succeeded"
	reasonFailed             = "Failed"
	reasonAbsent             = "Absent"
	reasonRetrying           = "Retrying"
	reasonBlocked            = "Blocked"
	reasonDeprecated         = "Deprecated"
	reasonNotDeprecated      = "NotDeprecated"
	reasonDeprecationUnknown = "DeprecationStatusUnknown"
)
