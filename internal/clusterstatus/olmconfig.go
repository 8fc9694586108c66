package clusterstatus

import (
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// ConfigName is the name of the only OLMConfig that has an effect.
const ConfigName = "cluster"

// CopiesCondition is the type of the condition about copied CSVs.
const CopiesCondition = "DisabledCopiedCSVs"

// Copies holds the objects that state whether copied CSVs are complete.
type Copies struct {
	Namespaces []*olm.Namespace
	Groups     []*olm.OperatorGroup
	// CSVs holds at least the CSVs in the namespaces of global groups and all their copies, each
	// once.
	CSVs []*olm.ClusterServiceVersion
	// Disabled is reconcile.Options.DisabledCopies.
	Disabled operatorgroup.CopyMode
}

// Apply writes the condition about copied CSVs to the status of the OLMConfig, and reports
// whether that changed the status (E39).
func (x Copies) Apply(c *olm.OLMConfig, now time.Time) bool {
	return olm.SetCondition(&c.Status.Conditions, copiesCondition(!olm.CopiedCSVsDisabled(c), x.complete(c)), now.UTC().Truncate(time.Second))
}

// complete reports whether the operators for all namespaces have the copies that they should
// have, and no others.
func (x Copies) complete(config *olm.OLMConfig) bool {
	mode := operatorgroup.CopyAll
	if olm.CopiedCSVsDisabled(config) {
		if mode = x.Disabled; mode == operatorgroup.CopyAll {
			mode = operatorgroup.CopyNone
		}
	}
	originals, copies := map[string][]*olm.ClusterServiceVersion{}, map[string]int{} // by the namespace of the original
	for _, c := range x.CSVs {
		if olm.IsCopied(c) {
			copies[c.Metadata.Labels[olm.LabelCopiedFrom]]++
		} else {
			originals[c.Metadata.Namespace] = append(originals[c.Metadata.Namespace], c)
		}
	}
	for _, g := range x.Groups {
		if !operatorgroup.IsGlobal(g.Status.Namespaces) {
			continue
		}
		want := 0
		for _, c := range originals[g.Metadata.Namespace] {
			want += len(operatorgroup.Copies(c, g, x.Namespaces, mode))
		}
		if want != copies[g.Metadata.Namespace] {
			return false
		}
	}
	return true
}

// copiesCondition returns OLM's condition about copied CSVs.
func copiesCondition(enabled, complete bool) olm.Condition {
	c := olm.Condition{Type: CopiesCondition, Status: olm.ConditionFalse, Reason: "CopiedCSVsDisabled"}
	switch {
	case enabled && complete:
		c.Reason, c.Message = "CopiedCSVsEnabled", "Copied CSVs are enabled and present across the cluster"
	case enabled:
		c.Reason, c.Message = "CopiedCSVsEnabled", "Copied CSVs are enabled and at least one copied CSVs is missing"
	case complete:
		c.Status, c.Message = olm.ConditionTrue, "Copied CSVs are disabled and no unexpected copied CSVs were found for operators installed in AllNamespace mode"
	default:
		c.Message = "Copied CSVs are disabled and at least one unexpected copied CSV was found for an operator installed in AllNamespace mode"
	}
	return c
}
