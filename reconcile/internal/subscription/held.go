package subscription

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Held returns why a subscription must wait and is left out of the resolution, or "" (E12), and
// the newest CSV of its operator.
func Held(w *world.World, s *olm.Subscription) (why string, newest *olm.ClusterServiceVersion) {
	c := w.CSV(s.Status.InstalledCSV)
	if c == nil {
		return "", nil
	}
	newest = c
	for range w.Own() { // which may replace each other in a cycle
		next := w.Replacement(newest)
		if next == nil {
			break
		}
		newest = next
	}
	if newest != c && newest.Status.Phase == olm.PhaseFailed {
		if why := unready(w, newest); why != "" {
			return why, newest
		}
	}
	if next := w.Replacement(c); next != nil {
		why = fmt.Sprintf("%s is being replaced by %s", c.Metadata.Name, next.Metadata.Name)
		if newest == next && next.Status.Phase != olm.PhaseSucceeded {
			why += fmt.Sprintf(" (it is %s)", status.Phase(next))
		}
		return why, newest
	}
	return unready(w, c), newest
}

// unready returns why a CSV that no other replaces cannot be replaced yet, or "".
func unready(w *world.World, c *olm.ClusterServiceVersion) string {
	if failsForward(w, c) {
		return ""
	}
	prev := w.Replaced(c)
	switch failed := c.Status.Phase == olm.PhaseFailed; {
	case failed && c.Status.Reason == reason.UnsupportedOperatorGroup && len(w.Groups()) == 1 && operatorgroup.Supports(c.Spec.InstallModes, w.Namespace, w.Targets(w.Groups()[0])) == nil:
		return fmt.Sprintf("%s failed under its operator group, which has been changed since; OLM tries again", c.Metadata.Name)
	case failed && operatorgroup.IsGroupFailure(c.Status):
		return fmt.Sprintf("%s cannot run under its operator group: %s", c.Metadata.Name, status.Cause(c))
	case failed && w.FailForward(): // the CSVs that it replaces are not ready
		return fmt.Sprintf("%s failed while replacing %s: %s; it can be replaced once every version before it is %s", c.Metadata.Name, prev.Metadata.Name, status.Cause(c), olm.PhaseReplacing)
	case failed && prev != nil:
		return fmt.Sprintf("%s failed while replacing %s: %s; fix the cause", c.Metadata.Name, prev.Metadata.Name, status.Cause(c))
	case failed:
		return fmt.Sprintf("%s failed and is not replaced: %s; fix the cause", c.Metadata.Name, status.Cause(c))
	case prev != nil:
		return fmt.Sprintf("%s has not yet replaced %s (it is %s): one version at a time", c.Metadata.Name, prev.Metadata.Name, status.Phase(c))
	case c.Status.Phase != olm.PhaseSucceeded:
		return fmt.Sprintf("%s is still being installed (it is %s)", c.Metadata.Name, status.Phase(c))
	}
	return ""
}

// failsForward reports whether a failed CSV may be replaced (E10). All CSVs
// that it replaces must be waiting to be replaced.
func failsForward(w *world.World, c *olm.ClusterServiceVersion) bool {
	if c.Status.Phase != olm.PhaseFailed || operatorgroup.IsGroupFailure(c.Status) || !w.FailForward() {
		return false
	}
	for prev := w.Replaced(c); prev != nil; prev = w.Replaced(prev) {
		if prev.Status.Phase != olm.PhaseReplacing {
			return false
		}
	}
	return true
}
