package world

import (
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/phrase"
)

// Upgradeable is the type of the condition of an operator that OLM heeds.
const Upgradeable = "Upgradeable"

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

// NotUpgradeable returns why the operator that a condition belongs to must not
// be replaced now, or nothing (E6):
//
//   - spec.overrides, set by an administrator, decides;
//   - otherwise False in spec.conditions, set by the operator, or in
//     status.conditions, copied by OLM, prevents it;
//   - so does a status of an older generation: it has not been updated yet.
//
// Without a condition, as without the resource (nil), the operator may be
// replaced. It never holds up the upgrade of the cluster.
func NotUpgradeable(c *olm.OperatorCondition) string {
	if c == nil {
		return ""
	}
	if o, ok := olm.FindCondition(c.Spec.Overrides, Upgradeable); ok {
		if o.Status == olm.ConditionTrue {
			return ""
		}
		return "overridden by an administrator: " + phrase.Saying(o)
	}
	if s, ok := olm.FindCondition(c.Spec.Conditions, Upgradeable); ok && s.Status == olm.ConditionFalse {
		return phrase.Saying(s)
	}
	s, ok := olm.FindCondition(c.Status.Conditions, Upgradeable)
	switch {
	case !ok:
		return ""
	case s.ObservedGeneration != c.Metadata.Generation:
		return fmt.Sprintf("its condition %s is of generation %d and the resource of %d", Upgradeable, s.ObservedGeneration, c.Metadata.Generation)
	case s.Status == olm.ConditionFalse:
		return phrase.Saying(s)
	}
	return ""
}

// Condition returns the OperatorCondition of a CSV, or nil.
func (w *World) Condition(csv string) *olm.OperatorCondition {
	for _, c := range w.OperatorConditions {
		if c.Metadata.Name == csv {
			return c
		}
	}
	return nil
}
