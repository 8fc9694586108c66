package resolver

// A Code names a kind of fact, or a kind of step that applies none. It is stable;
// [Explain] tells what it means.
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
	CodeRuled         Code = "ruled"
	CodeInstallMode   Code = "install-mode"
)

// The codes of the steps of a derivation that apply no fact.
const (
	// CodeUnmetPart is a part of a requirement that nothing meets.
	CodeUnmetPart Code = "unmet-part"
	// CodeCrowded is more that is asked for than there is room for.
	CodeCrowded Code = "crowded"
	// CodeSupposed is an option that was tried and refuted.
	CodeSupposed Code = "supposed"
	// CodePreferred is what earlier choices took.
	CodePreferred Code = "preferred"
	// CodeContradiction is a core that is listed, not derived.
	CodeContradiction Code = "contradiction"
)
