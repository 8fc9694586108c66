package resolver

import "github.com/olmkit/olmkit/resolver/fact"

// A Holder is what keeps a bundle from being chosen. An [Advice] lists holders in the order
// of the constants.
type Holder string

const (
	HeldByPin          Holder = "pin"          // a policy pins the package
	HeldByHold         Holder = "hold"         // a policy puts the package on hold
	HeldByExclude      Holder = "exclude"      // a policy excludes the version
	HeldByInstallMode  Holder = "install-mode" // the bundle does not support the operator group
	HeldByBundle       Holder = "bundle"       // the bundle is prohibited
	HeldByInvalid      Holder = "invalid"      // the bundle cannot be read, or contradicts itself
	HeldByRequirement  Holder = "requirement"  // the bundle has an unmet requirement
	HeldBySubscription Holder = "subscription" // another subscription or operator is in the way

	// In a cluster, these keep a chosen bundle from being installed.
	HeldByApproval Holder = "approval" // an install plan waits for approval
	HeldByOperator Holder = "operator" // the installed operator reports that it is not upgradeable
	HeldByPlatform Holder = "platform" // the bundle needs a newer version of Kubernetes
	HeldByCRD      Holder = "crd"      // the cluster refuses the CRDs of the bundle

	// These keep all bundles of a namespace, or of a subscription, from being installed.
	HeldByCatalog     Holder = "catalog"         // a catalog of the namespace is not ready
	HeldByGroup       Holder = "operator-group"  // the namespace has no operator group, or several
	HeldByAccount     Holder = "service-account" // the service account of its operator group does not exist
	HeldByInstallPlan Holder = "install-plan"    // its install plan failed, or one for another bundle is in the way
	HeldByUnready     Holder = "unready"         // the installed operator failed, or is still being installed
	HeldByDeletion    Holder = "deletion"        // the installed operator was deleted, but not its subscription
	HeldByUnpacking   Holder = "unpacking"       // the bundle cannot be unpacked
	HeldByDifference  Holder = "difference"      // the running OLM decides otherwise ([Solution.Differs])
)

// A Misfit is a bundle that does not run in the namespace once it is installed. OLM selects it
// nevertheless.
type Misfit struct {
	Bundle string `json:"bundle"`
	// By is [HeldByInstallMode] or [HeldByPlatform].
	By Holder `json:"by"`
	// Why is the reason, as a clause that begins with the bundle.
	Why string `json:"why"`
}

// String returns the reason.
func (m Misfit) String() string { return m.Why }

// held has, for each holder, the clause that explains why a bundle was not chosen, with %s for
// its name.
var held = []struct {
	by   Holder
	text string
}{
	{HeldByPin, "a policy pins the package"},
	{HeldByHold, "a policy puts the package on hold"},
	{HeldByExclude, "a policy excludes %s"},
	{HeldBySubscription, "another subscription or operator is in the way"},
	{HeldByRequirement, "%s has an unmet requirement"},
	{HeldByInstallMode, "%s does not support the operator group"},
	{HeldByBundle, "%s is deprecated"},
	{HeldByInvalid, "%s is invalid"},
}

// holders returns the holders that the reasons of rejections involve, in the order of the
// constants of [Holder].
func holders(list []*fact.Step) []Holder {
	found := map[Holder]bool{}
	var visit func(*fact.Step)
	visit = func(s *fact.Step) {
		switch f := s.Fact.(type) {
		case *fact.PolicyBlocked:
			switch {
			case f.Policy.Pin != "":
				found[HeldByPin] = true
			case f.Policy.Hold:
				found[HeldByHold] = true
			default:
				found[HeldByExclude] = true
			}
		case *fact.InstallMode:
			found[HeldByInstallMode] = true
		case *fact.Prohibited:
			found[HeldByBundle] = true
		case *fact.Unusable:
			found[HeldByInvalid] = true
		case *fact.Requires:
			found[HeldByRequirement] = true
		case *fact.Subscribed, *fact.MustStay, *fact.OnePerPackage, *fact.OneProvider, *fact.Replaced:
			found[HeldBySubscription] = true
		}
		for _, b := range s.Because {
			visit(b)
		}
	}
	for _, s := range list {
		visit(s)
	}
	var out []Holder
	for _, h := range []Holder{HeldByPin, HeldByHold, HeldByExclude, HeldByInstallMode, HeldByBundle, HeldByInvalid, HeldByRequirement, HeldBySubscription} {
		if found[h] {
			out = append(out, h)
		}
	}
	return out
}
