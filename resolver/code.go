package resolver

// A Code identifies a kind of fact, or a kind of step without a fact. Codes are stable.
// [Explain] returns their documentation.
type Code string

// The codes of facts.
const (
	CodeSubscribed    Code = "subscribed"
	CodeUnavailable   Code = "unavailable"
	CodeMustStay      Code = "must-stay"
	CodeRequires      Code = "requires"
	CodeOnePerPackage Code = "one-per-package"
	CodeOneProvider   Code = "one-provider"
	CodeReplaced      Code = "replaced"
	CodeProhibited    Code = "prohibited"
	CodeUnusable      Code = "unusable"
	CodePolicyBlocked Code = "ruled"
	CodeInstallMode   Code = "install-mode"
)

// The codes of steps without a fact.
const (
	// CodeUnmetPart: nothing satisfies a part of a requirement.
	CodeUnmetPart Code = "unmet-part"
	// CodeCrowded: more bundles are required than the namespace can hold.
	CodeCrowded Code = "crowded"
	// CodeSupposed: an option was tried and refuted.
	CodeSupposed Code = "supposed"
	// CodePreferred: an earlier choice has priority.
	CodePreferred Code = "preferred"
	// CodeContradiction: the facts of a core, listed without a derivation.
	CodeContradiction Code = "contradiction"
)
