// Package reason has the reasons that OLM gives for the phase of a CSV, as untyped
// constants for all packages that decide phases. Users of package olm write them as text.
package reason

// The reasons that concern operator groups.
const (
	NoOperatorGroup                     = "NoOperatorGroup"
	TooManyOperatorGroups               = "TooManyOperatorGroups"
	UnsupportedOperatorGroup            = "UnsupportedOperatorGroup"
	NoTargetNamespaces                  = "NoTargetNamespaces"
	InvalidInstallModes                 = "InvalidInstallModes"
	InterOperatorGroupOwnerConflict     = "InterOperatorGroupOwnerConflict"
	CannotModifyStaticOperatorGroupAPIs = "CannotModifyStaticOperatorGroupProvidedAPIs"
	Copied                              = "Copied"
)

// The reasons of a CSV that is being installed.
const (
	RequirementsUnknown              = "RequirementsUnknown"
	RequirementsNotMet               = "RequirementsNotMet"
	RequirementsMet                  = "AllRequirementsMet"
	OwnerConflict                    = "OwnerConflict"
	ComponentFailed                  = "InstallComponentFailed"
	InvalidStrategy                  = "InvalidInstallStrategy"
	Waiting                          = "InstallWaiting"
	InstallSuccessful                = "InstallSucceeded"
	InstallCheckFailed               = "InstallCheckFailed"
	ComponentUnhealthy               = "ComponentUnhealthy"
	BeingReplaced                    = "BeingReplaced"
	Replaced                         = "Replaced"
	NeedsReinstall                   = "NeedsReinstall"
	InvalidWebhook                   = "InvalidWebhookDescription"
	ConditionNotUpgradeable          = "OperatorConditionNotUpgradeable"
	NeedsCertRotation                = "NeedsCertRotation"
	APIServiceResourceIssue          = "APIServiceResourceIssue"
	APIServiceResourcesNeedReinstall = "APIServiceResourcesNeedReinstall"
)
