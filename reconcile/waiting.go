package reconcile

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// waiting completes the notes of a plan without changes: each object of the namespace
// that is not as it should be gets one, at least with its status. The notes of the
// concerns go first, because they know more.
func (p *planner) waiting(context.Context) error {
	p.noteGate()
	if len(p.plan.Changes) > 0 {
		return nil
	}
	named := map[olm.Key]bool{}
	for _, n := range p.plan.Notes {
		if !n.Advice && !p.omitsCause(n) {
			named[n.Object] = true
		}
	}
	say := func(r olm.Resource, text string) {
		if h := r.Head(); h.Metadata.IsDeleted() {
			p.note(h.Key(), "%s", leavingText(h))
		} else if text != "" && !named[h.Key()] {
			p.note(h.Key(), "%s", text)
		}
	}
	for _, g := range p.groups() {
		say(g, "")
	}
	for _, ip := range p.InstallPlans {
		say(ip, planText(ip))
	}
	for _, c := range p.own() {
		text := ""
		if c.Status.Phase != olm.PhaseSucceeded {
			text = "is " + phaseText(c)
		}
		say(c, text)
	}
	for _, s := range p.Subscriptions {
		text := ""
		if s.Status.State != olm.StateAtLatestKnown {
			text = p.subscriptionText(s)
		}
		say(s, text)
	}
	return nil
}

// omitsCause reports whether a note about an install plan omits the message of its
// status.
func (p *planner) omitsCause(n Note) bool {
	return slices.ContainsFunc(p.InstallPlans, func(ip *olm.InstallPlan) bool {
		return ip.Key() == n.Object && !strings.Contains(n.Message, clause(ip.Status.Message))
	})
}

// leavingText describes what a deletion waits for.
func leavingText(h *olm.Header) string {
	if len(h.Metadata.Finalizers) == 0 {
		return "is being deleted"
	}
	return "is being deleted, but stays until its finalizers are removed: " + strings.Join(h.Metadata.Finalizers, ", ")
}

// planText describes what an install plan waits for, if anything.
func planText(ip *olm.InstallPlan) string {
	if isFinished(ip) {
		return ""
	}
	return "is " + string(cmp.Or(ip.Status.Phase, "new")) + ": " + cmp.Or(ip.Status.Message, "its steps are not done")
}

// subscriptionText describes what a subscription waits for: what is wrong by its
// conditions, or else the state of the operator that it wants.
func (p *planner) subscriptionText(s *olm.Subscription) string {
	var parts []string
	for _, c := range s.Status.Conditions {
		if c.Status != olm.ConditionTrue || !slices.Contains(waitingConditions, c.Type) {
			continue
		}
		text := clause(cmp.Or(c.Message, c.Reason))
		switch {
		case c.Type == olm.ResolutionFailed && p.plan.Refused != nil:
			text = c.Reason // the plan has the rest
		case c.Type == olm.InstallPlanPending && s.Status.InstallPlanRef != nil:
			text = "install plan " + s.Status.InstallPlanRef.Name // whose note has the rest
		}
		parts = append(parts, c.Type+": "+text)
	}
	if c := p.csv(cmp.Or(s.Status.CurrentCSV, s.Status.InstalledCSV)); c != nil && c.Status.Phase != olm.PhaseSucceeded {
		parts = append(parts, c.Metadata.Name+" is "+phaseText(c))
	}
	if len(parts) == 0 {
		return "is " + string(cmp.Or(s.Status.State, "new")) + ", and there is nothing left to do for it"
	}
	return "waits: " + strings.Join(parts, "; ")
}

// waitingConditions are the conditions of subscriptions that hold them up.
var waitingConditions = []string{
	olm.CatalogSourcesUnhealthy, olm.ResolutionFailed, olm.BundleUnpackFailed,
	olm.InstallPlanMissing, olm.InstallPlanPending, olm.InstallPlanFailed, ConditionCSVMissing,
}

// noteGate notes why no operator is installed while the groups of the namespace do
// not admit any (F3, F10).
func (p *planner) noteGate() {
	for _, g := range p.groups() {
		if n := len(p.groups()); n > 1 {
			p.note(g.Key(), "is one of %d operator groups in the namespace, so no operator is installed or runs; delete all but one (F3, F10)", n)
		}
		if name := g.Spec.ServiceAccountName; name != "" && !p.hasServiceAccount(name) {
			p.note(g.Key(), "nothing is installed, because service account %q does not exist; create it, or name another one in /spec/serviceAccountName (F10)", name)
		}
	}
}
