package fbc

import (
	"slices"

	"github.com/olmkit/olmkit/internal/codes"
)

// A Code names a kind of finding. Codes are stable: scripts may match them. [Explanations]
// returns the explanation of a code, with an example and its fix.
type Code string

// warnings are the codes of severity Warning.
var warnings = []Code{
	codes.IgnorePattern, codes.Leftover, codes.Icon,
	codes.StrayFile, codes.Template, codes.UnknownSchema, codes.UnknownProperty, codes.DeprecatedHead, codes.SkipRangeSelf, codes.SkipRangeDowngrade, codes.ReplacesNewer,
	codes.DanglingReplaces, codes.Stuck, codes.Bridge, codes.DefaultBehind, codes.Unmet, codes.VersionBuild, codes.RelatedImageEmpty,
	codes.APITwice, codes.MaxOpenShiftNumber, codes.MaxOpenShiftTwice,
	codes.BundleAPIDeprecated, codes.BundleCRDUnowned, codes.BundleFieldDropped, codes.BundleImageUnpinned, codes.BundleImageUnlisted, codes.BundleNoMinKubeVersion, codes.BundleSuggestedNamespace,
	codes.GrantsWildcard, codes.GrantsSecrets, codes.GrantsExec, codes.GrantsWorkloads, codes.GrantsVolumes, codes.GrantsNamespaces, codes.GrantsNodesProxy, codes.GrantsEscalation, codes.GrantsImpersonation,
	codes.GrantsRBAC, codes.GrantsCertificates, codes.GrantsTokens, codes.GrantsWebhooks, codes.GrantsInterception,
	codes.ImpactNotCompared, codes.ImpactObjectDeleted, codes.ImpactCRDVersion, codes.ImpactCRDStorage, codes.ImpactCRDBehavior, codes.ImpactPermission, codes.ImpactAccount,
	codes.ImpactWebhook, codes.ImpactAPIService, codes.ImpactPrivilege, codes.ImpactPodSecurity, codes.ImpactRecreated,
	codes.ImpactRequires, codes.ImpactProvides, codes.ImpactKubeVersion, codes.ImpactOpenShiftVersion,
}

// Severity returns the severity of findings of the code. [LoadOptions.RefuseTemplates]
// makes templates errors; all other codes have one severity.
func (c Code) Severity() Severity {
	if slices.Contains(warnings, c) {
		return Warning
	}
	return Error
}

// A Severity is how serious a finding is.
type Severity int

const (
	// Error marks a finding that makes a catalog invalid.
	Error Severity = iota
	// Warning marks what is legal but likely to surprise users.
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
