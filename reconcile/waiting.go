package reconcile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// noteWaiting completes the notes of a plan without changes: each object of the namespace
// that is not in its desired state gets a note that states at least its status. Notes of
// the concerns take precedence, because they are more specific.
func noteWaiting(w *world.World, p *change.Writer, refused error) {
	noteGate(w, p)
	if len(p.Changes) > 0 {
		return
	}
	named := map[olm.Key]bool{}
	for _, n := range p.Notes {
		if n.Code != change.Advice && !omitsStatus(w, n) {
			named[n.Object] = true
		}
	}
	say := func(r olm.Resource, text string, code change.Code) {
		if h := r.Head(); h.Metadata.IsDeleted() {
			p.Note(h.Key(), "%s", status.Leaving(h))
		} else if text != "" && !named[h.Key()] {
			p.Note(h.Key(), "%s", text).Code = code
		}
	}
	for _, g := range w.Groups() {
		say(g, "", "")
	}
	for _, ip := range w.InstallPlans {
		say(ip, planText(ip), "")
	}
	for _, c := range w.Own() {
		text := ""
		if c.Status.Phase != olm.PhaseSucceeded {
			text = "is " + status.Phase(c)
		}
		say(c, text, "")
	}
	for _, s := range w.Subscriptions {
		text, code := "", change.Code("")
		if s.Status.State != olm.StateAtLatestKnown {
			text, code = subscriptionText(w, s, refused)
		}
		say(s, text, code)
	}
}

// omitsStatus reports whether a note about an install plan omits the message of its
// status.
func omitsStatus(w *world.World, n change.Note) bool {
	return !n.StatesStatus && slices.ContainsFunc(w.InstallPlans, func(ip *olm.InstallPlan) bool {
		return ip.Key() == n.Object && ip.Status.Message != ""
	})
}

// planText describes what an install plan waits for, if anything.
func planText(ip *olm.InstallPlan) string {
	if world.IsFinished(ip) {
		return ""
	}
	return "is " + string(cmp.Or(ip.Status.Phase, "new")) + ": " + cmp.Or(ip.Status.Message, "its steps are not done")
}

// subscriptionText describes what a subscription waits for: the problem that its conditions
// report, or else the state of the operator that it wants.
func subscriptionText(w *world.World, s *olm.Subscription, refused error) (text string, code change.Code) {
	var parts []string
	for _, c := range s.Status.Conditions {
		if c.Status != olm.ConditionTrue || !slices.Contains(waitingConditions, c.Type) {
			continue
		}
		text = phrase.Clause(cmp.Or(c.Message, c.Reason))
		switch {
		case c.Type == world.ResolutionFailed && refused != nil:
			text, code = c.Reason, change.Refused // the plan has the details
		case c.Type == world.InstallPlanPending && s.Status.InstallPlanRef != nil:
			text = "install plan " + s.Status.InstallPlanRef.Name // its note has the details
		}
		parts = append(parts, c.Type+": "+text)
	}
	if c := w.CSV(cmp.Or(s.Status.CurrentCSV, s.Status.InstalledCSV)); c != nil && c.Status.Phase != olm.PhaseSucceeded {
		parts = append(parts, c.Metadata.Name+" is "+status.Phase(c))
	}
	if len(parts) == 0 {
		return "is " + string(cmp.Or(s.Status.State, "new")) + ", and no further step is possible", ""
	}
	return "waits: " + strings.Join(parts, "; "), code
}

// waitingConditions are the conditions for which subscriptions wait.
var waitingConditions = []string{
	world.CatalogSourcesUnhealthy, world.ResolutionFailed, world.BundleUnpackFailed,
	world.InstallPlanMissing, world.InstallPlanPending, world.InstallPlanFailed, subscription.ConditionCSVMissing,
}

// noteGate notes why no operator is installed while the groups of the namespace do
// not admit any (F3, F10).
func noteGate(w *world.World, p *change.Writer) {
	for _, g := range w.Groups() {
		if n := len(w.Groups()); n > 1 {
			x := p.Note(g.Key(), "is one of %d operator groups in the namespace, so no operator is installed or runs; delete all but one", n)
			x.Rule, x.Code = "F3", change.Code(resolver.HeldByGroup)
		}
		if name := g.Spec.ServiceAccountName; name != "" && !w.HasServiceAccount(name) {
			x := p.Note(g.Key(), "nothing is installed, because service account %q does not exist; create it, or name another one in /spec/serviceAccountName", name)
			x.Rule, x.Code = "F10", change.Code(resolver.HeldByAccount)
		}
	}
}
