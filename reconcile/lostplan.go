package reconcile

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// IsLost reports whether a subscription waits for an install plan that does not exist. The running OLM then
// forgets the plan and what it chose, and resolves the subscription again. current is the CSV of its
// status.currentCSV, and plan its install plan, or nil if they do not exist.
func IsLost(s *olm.Subscription, current *olm.ClusterServiceVersion, plan *olm.InstallPlan) bool { // E2
	return s.Status.InstallPlanRef != nil && plan == nil && s.Status.CurrentCSV != "" && current == nil && !world.IsDeleted(s, current, plan)
}

// lostObstacles reports why the running OLM makes no install plan in the place of one that does not exist: it
// has recorded that the plan is missing and does not look again, or it looks for the plan of an annotation,
// without which it resolves nothing in the whole namespace (E2). A plan without anything to do is also in the way.
func lostObstacles(w *world.World) (out []Obstacle) {
	for _, s := range w.Subscriptions {
		name, current := s.Metadata.Name, s.Status.CurrentCSV
		lost := IsLost(s, w.CSV(current), w.PlanOf(s))
		by := s.Metadata.Annotations[world.AnnotationGeneratedBy]
		ip := w.InstallPlan(by)
		switch c, _ := olm.FindCondition(s.Status.Conditions, world.InstallPlanMissing); {
		case lost && c.Status == olm.ConditionTrue:
			out = append(out, Obstacle{
				Bundle: current, Replaces: s.Status.InstalledCSV, By: resolver.HeldByDifference, InstallPlan: s.Status.InstallPlanRef.Name,
				Reason: fmt.Sprintf("OLM creates no install plan for %s: subscription %s refers to install plan %s, which does not exist, and OLM has recorded this and does not look again",
					current, name, s.Status.InstallPlanRef.Name),
				Remedy:   "reset the status of the subscription",
				Commands: []string{reset(s)},
			})
		case by != "" && (lost || s.Status.InstallPlanRef == nil) && (ip == nil || world.IsFinished(ip) && w.CSV(s.Spec.StartingCSV) == nil):
			why := "does not exist"
			if ip != nil {
				why = "is finished"
			}
			out = append(out, Obstacle{
				By: resolver.HeldByDifference,
				Reason: fmt.Sprintf("OLM resolves nothing in the namespace: annotation %s of subscription %s names install plan %s, which %s",
					world.AnnotationGeneratedBy, name, by, why),
				Remedy:   "remove the annotation",
				Commands: []string{disown(s)},
			})
		case isEmpty(w.PlanOf(s)):
			_, commands := Discard(w.Subscriptions, w.PlanOf(s))
			out = append(out, Obstacle{
				Bundle: current, Replaces: s.Status.InstalledCSV, By: resolver.HeldByInstallPlan, InstallPlan: w.PlanOf(s).Metadata.Name,
				Reason:   fmt.Sprintf("install plan %s for %s has neither steps nor bundles to unpack, and gets none", w.PlanOf(s).Metadata.Name, current),
				Remedy:   "delete the install plan: OLM creates another one",
				Commands: commands,
			})
		}
	}
	return out
}

// isEmpty reports whether an install plan, or nil, was not made by OLM and has nothing to do.
func isEmpty(ip *olm.InstallPlan) bool {
	return ip != nil && !isApprovable(ip) && !world.IsFinished(ip) && !world.IsGenerated(ip) && len(ip.Status.Plan) == 0 && len(ip.Status.BundleLookups) == 0
}

// isApprovable reports whether an install plan waits for approval.
func isApprovable(ip *olm.InstallPlan) bool {
	return ip.Status.Phase == olm.PlanRequiresApproval && !ip.Spec.Approved
}

// failedObstacle reports whether what a solution, which may be nil, selects supersedes a failed install plan, and
// then the obstacle if the running OLM does not look: every subscription of the namespace waits for its plan.
func failedObstacle(w *world.World, ip *olm.InstallPlan, sol *resolver.Solution) (o *Obstacle, superseded bool) {
	if sol == nil || ip.Status.Phase != olm.PlanFailed {
		return nil, false
	}
	for _, x := range sol.Selected {
		for _, s := range w.Subscribers(x) {
			if w.PlanOf(s) != ip || s.Status.CurrentCSV == x.Name {
				continue
			}
			if looks(w) {
				return nil, true
			}
			first, commands := Discard(w.Subscriptions, ip)
			return &Obstacle{
				Bundle: x.Name, Replaces: x.Replaces, By: resolver.HeldByDifference, InstallPlan: ip.Metadata.Name,
				Reason: fmt.Sprintf("install plan %s for %s failed (%s), and OLM installs nothing as long as it exists",
					ip.Metadata.Name, s.Status.CurrentCSV, phrase.Clause(world.FailureText(ip))),
				Remedy:   fmt.Sprintf("%sdelete the install plan, and OLM creates one for %s", first, x.Name),
				Commands: commands,
			}, true
		}
	}
	return nil, false
}

// looks reports whether the running OLM resolves the namespace: it does not if every subscription waits for its
// install plan.
func looks(w *world.World) bool {
	return slices.ContainsFunc(w.Subscriptions, func(s *olm.Subscription) bool {
		return s.Status.State != olm.StateUpgradePending || w.PlanOf(s) == nil
	})
}

// reset returns the command after which OLM resolves a subscription again.
func reset(s *olm.Subscription) string {
	status := map[string]any{"currentCSV": nil, "state": nil}
	if s.Status.InstalledCSV != "" {
		status["currentCSV"] = s.Status.InstalledCSV
	}
	return kubectl.PatchStatus("subscription."+olm.Group, s.Metadata.Namespace, s.Metadata.Name, status)
}

// disown returns the command that removes the annotation with the install plan that created a subscription.
func disown(s *olm.Subscription) string {
	return kubectl.Annotate("subscription."+olm.Group, s.Metadata.Namespace, s.Metadata.Name, world.AnnotationGeneratedBy+"-")
}

// Discard returns the commands that delete an install plan so that OLM creates another for the given
// subscriptions: those that a plan created must not look for it. first states what to do before the deletion.
func Discard(list []*olm.Subscription, ip *olm.InstallPlan) (first string, commands []string) {
	var names []string
	for _, s := range list {
		if ref := s.Status.InstallPlanRef; ref != nil && ref.Name == ip.Metadata.Name && s.Metadata.Namespace == ip.Metadata.Namespace && s.Metadata.Annotations[world.AnnotationGeneratedBy] != "" {
			names, commands = append(names, s.Metadata.Name), append(commands, disown(s))
		}
	}
	if len(names) > 0 {
		first = fmt.Sprintf("remove annotation %s from %s %s, because of which OLM would wait for a plan that is gone, and ",
			world.AnnotationGeneratedBy, phrase.Plural(len(names), "subscription"), phrase.And(names))
	}
	return first, append(commands, kubectl.Delete("installplan."+olm.Group, ip.Metadata.Namespace, ip.Metadata.Name))
}

// discard returns how to let OLM create another install plan in the place of a failed one, which what names, for a bundle.
func discard(w *world.World, ip *olm.InstallPlan, bundle, what string) (how string, commands []string) {
	i := slices.IndexFunc(w.Subscriptions, func(s *olm.Subscription) bool { return s.Status.CurrentCSV == bundle })
	if w.FailForward() && i >= 0 { // OLM does not forget the plan then
		return "reset the status of subscription " + w.Subscriptions[i].Metadata.Name, []string{reset(w.Subscriptions[i])}
	}
	first, commands := Discard(w.Subscriptions, ip)
	return first + "delete " + what, commands
}
