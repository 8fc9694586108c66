package subscription

import (
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/status"
)

// held returns why a subscription must wait and is left out of the resolution, or "" (E12).
func (p *planner) held(s *olm.Subscription) string {
	c := p.CSV(s.Status.InstalledCSV)
	if c == nil {
		return ""
	}
	if next := p.Replacement(c); next != nil {
		return fmt.Sprintf("%s is being replaced by %s", c.Metadata.Name, next.Metadata.Name)
	}
	if p.failsForward(c) {
		return ""
	}
	prev := p.Replaced(c)
	switch failed := c.Status.Phase == olm.PhaseFailed; {
	case failed && operatorgroup.IsGroupFailure(c.Status):
		return fmt.Sprintf("%s cannot run under its operator group: %s", c.Metadata.Name, status.Cause(c))
	case failed && p.FailForward(): // the CSVs that it replaces are not ready
		return fmt.Sprintf("%s failed while replacing %s: %s; it can be replaced once every version before it is %s", c.Metadata.Name, prev.Metadata.Name, status.Cause(c), olm.PhaseReplacing)
	case failed && prev != nil:
		return fmt.Sprintf("%s failed while replacing %s: %s; %s", c.Metadata.Name, prev.Metadata.Name, status.Cause(c), failForwardText)
	case failed:
		return fmt.Sprintf("%s failed and is not replaced: %s; %s", c.Metadata.Name, status.Cause(c), failForwardText)
	case prev != nil:
		return fmt.Sprintf("%s has not yet replaced %s (it is %s): one version at a time", c.Metadata.Name, prev.Metadata.Name, status.Phase(c))
	case c.Status.Phase != olm.PhaseSucceeded:
		return fmt.Sprintf("%s is still being installed (it is %s)", c.Metadata.Name, status.Phase(c))
	}
	return ""
}

// failForwardText is the advice about an operator that failed (E10).
const failForwardText = "set upgradeStrategy " + string(olm.UpgradeFailForward) + " on the OperatorGroup, or fix the cause"

// failsForward reports whether a failed CSV may be replaced (E10). All CSVs
// that it replaces must be waiting to be replaced.
func (p *planner) failsForward(c *olm.ClusterServiceVersion) bool {
	if c.Status.Phase != olm.PhaseFailed || operatorgroup.IsGroupFailure(c.Status) || !p.FailForward() {
		return false
	}
	for prev := p.Replaced(c); prev != nil; prev = p.Replaced(prev) {
		if prev.Status.Phase != olm.PhaseReplacing {
			return false
		}
	}
	return true
}
