package subscription

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A Wait is why a subscription must wait and is left out of the resolution, and what to do about it. It
// is zero if the subscription need not wait, and Remedy is "" if there is nothing to do.
type Wait struct{ Reason, Remedy string }

// String returns the reason, and what to do.
func (w Wait) String() string {
	if w.Remedy == "" {
		return w.Reason
	}
	return w.Reason + "; " + w.Remedy
}

// Held returns why a subscription must wait (E12), and the newest CSV of its operator.
func Held(w *world.World, s *olm.Subscription) (why Wait, newest *olm.ClusterServiceVersion) {
	c := w.CSV(s.Status.InstalledCSV)
	if c == nil {
		return Wait{}, nil
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
		if why := unready(w, newest); why.Reason != "" {
			return why, newest
		}
	}
	if next := w.Replacement(c); next != nil {
		why.Reason = fmt.Sprintf("%s is being replaced by %s", c.Metadata.Name, next.Metadata.Name)
		if newest == next && next.Status.Phase != olm.PhaseSucceeded {
			why.Reason += fmt.Sprintf(" (it is %s)", status.Phase(next))
		}
		return why, newest
	}
	return unready(w, c), newest
}

// unready returns why a CSV that no other replaces cannot be replaced yet.
func unready(w *world.World, c *olm.ClusterServiceVersion) (why Wait) {
	if failsForward(w, c) {
		return why
	}
	name, cause := c.Metadata.Name, status.Cause(c)
	prev := w.Replaced(c)
	switch failed := c.Status.Phase == olm.PhaseFailed; {
	case failed && c.Status.Reason == reason.UnsupportedOperatorGroup && len(w.Groups()) == 1 && operatorgroup.Supports(c.Spec.InstallModes, w.Namespace, w.Targets(w.Groups()[0])) == nil:
		why.Reason = fmt.Sprintf("%s failed under its operator group, which has been changed since; OLM tries again", name)
	case failed && operatorgroup.IsGroupFailure(c.Status):
		why.Reason = fmt.Sprintf("%s cannot run under its operator group: %s", name, cause)
	case failed && w.FailForward(): // the CSVs that it replaces are not ready
		why.Reason = fmt.Sprintf("%s failed while replacing %s: %s; it can be replaced once every version before it is %s", name, prev.Metadata.Name, cause, olm.PhaseReplacing)
	case failed && prev != nil:
		why.Reason = fmt.Sprintf("%s failed while replacing %s: %s", name, prev.Metadata.Name, cause)
		why.Remedy = "fix the cause"
	case failed:
		why.Reason = fmt.Sprintf("%s failed and is not replaced: %s", name, cause)
		why.Remedy = "fix the cause"
	case prev != nil:
		why.Reason = fmt.Sprintf("%s has not yet replaced %s (it is %s): one version at a time", name, prev.Metadata.Name, status.Phase(c))
	case c.Status.Phase != olm.PhaseSucceeded:
		why.Reason = fmt.Sprintf("%s is still being installed (it is %s)", name, status.Phase(c))
	}
	return why
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
