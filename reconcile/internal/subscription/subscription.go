package subscription

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// The reasons of the conditions of subscriptions.
const (
	ReasonConstraintsNotSatisfiable = "ConstraintsNotSatisfiable"
	ReasonErrorPreventedResolution  = "ErrorPreventedResolution"
	ReasonBundleUnpackFailed        = "BundleUnpackFailed"
)

// ConditionCSVMissing is the type of the condition of a subscription whose
// operator was installed and then deleted. Neither OLM nor this package installs it
// again; OLM does not report it.
const ConditionCSVMissing = "InstalledCSVMissing"

// subscriptions maintains the status of the subscriptions (E1, E4, E5), resolves them
// together (E9) and plans an install plan for the result (E2).
func (p *planner) subscriptions(ctx context.Context) error {
	if len(p.Subscriptions) == 0 {
		return nil
	}
	catalogs, err := catalog.Read(ctx, p.World, p.Content)
	if err != nil {
		return err
	}
	next := make([]*olm.Subscription, len(p.Subscriptions))
	settled := true
	for i, s := range p.Subscriptions {
		out := *s
		next[i] = &out
		p.installed(&out)
		p.planConditions(&out)
		p.healthStatus(&out, catalogs)
		p.deprecations(&out, catalogs)
		settled = settled && out.Status.CurrentCSV == s.Status.CurrentCSV && out.Status.InstalledCSV == s.Status.InstalledCSV &&
			sameRef(out.Status.InstallPlanRef, s.Status.InstallPlanRef)
	}
	// Resolve only when the status is up to date.
	if settled && !p.allPending() {
		if err := p.resolveAll(ctx, catalogs, next); err != nil {
			return err
		}
	}
	for i, s := range p.Subscriptions {
		p.missingCSV(next[i])
		if p.isOvertaken(s, next[i]) {
			continue
		}
		if err := p.writeStatus(s, next[i]); err != nil {
			return err
		}
	}
	return nil
}

// isOvertaken reports whether the status of a subscription is about to change again, because
// the plan changes the install plan that it describes. The status is then written only once,
// after that, unless it refers to another install plan, which must happen first.
func (p *planner) isOvertaken(old, next *olm.Subscription) bool {
	if old.Status.CurrentCSV != next.Status.CurrentCSV || !sameRef(old.Status.InstallPlanRef, next.Status.InstallPlanRef) {
		return false
	}
	plan := p.Created
	if plan == nil {
		plan = p.PlanOf(next)
	}
	return plan != nil && p.Touches(plan.Key()) && !p.Hindered(plan.Key())
}

func sameRef(a, b *olm.ObjectReference) bool {
	return a == b || a != nil && b != nil && a.Name == b.Name && a.UID == b.UID
}

// allPending reports whether every subscription waits for an install plan.
func (p *planner) allPending() bool {
	for _, s := range p.Subscriptions {
		plan := p.PlanOf(s)
		if plan == nil || plan.Status.Phase != olm.PlanRequiresApproval && plan.Status.Phase != olm.PlanInstalling {
			return false
		}
	}
	return true
}

// installed sets the fields that depend on the CSVs and the plan of the subscription.
func (p *planner) installed(s *olm.Subscription) {
	st := &s.Status
	if by := s.Metadata.Annotations[world.AnnotationGeneratedBy]; by != "" && st.InstallPlanRef == nil {
		if plan := p.InstallPlan(by); plan != nil {
			setPlanRef(st, plan)
		}
		st.CurrentCSV = cmp.Or(st.CurrentCSV, s.Spec.StartingCSV)
	}
	if st.CurrentCSV == "" {
		return
	}
	plan := p.PlanOf(s)
	failed := plan != nil && plan.Status.Phase == olm.PlanFailed
	switch c := p.CSV(st.CurrentCSV); {
	case c == nil && failed && p.FailForward():
		st.State = olm.StateUpgradeFailed
	case c == nil:
		st.State = olm.StateUpgradePending
	default: // whatever its phase, as in OLM (E32)
		st.InstalledCSV, st.State = st.CurrentCSV, olm.StateAtLatestKnown
	}
}

func setPlanRef(st *olm.SubscriptionStatus, plan *olm.InstallPlan) {
	st.InstallPlanRef = &olm.ObjectReference{
		APIVersion: plan.APIVersion, Kind: plan.Kind, Namespace: plan.Metadata.Namespace,
		Name: plan.Metadata.Name, UID: plan.Metadata.UID,
	}
	st.InstallPlan = &olm.InstallPlanReference{APIVersion: plan.APIVersion, Kind: plan.Kind, Name: plan.Metadata.Name, UID: plan.Metadata.UID}
	st.InstallPlanGeneration = plan.Spec.Generation
}

// planConditions sets the conditions about the subscription's install plan.
func (p *planner) planConditions(s *olm.Subscription) {
	list := &s.Status.Conditions
	var missing, pending, failed *olm.Condition
	if ref := s.Status.InstallPlanRef; ref != nil {
		switch plan := p.PlanOf(s); {
		case plan == nil && (p.CSV(s.Status.CurrentCSV) == nil && !p.IsDeleted(s) || world.SawUnfinished(s)):
			missing = &olm.Condition{Reason: "ReferencedInstallPlanNotFound", Message: fmt.Sprintf("install plan %q does not exist", ref.Name)}
		case plan == nil:
		case plan.Status.Phase == "":
			pending = &olm.Condition{Reason: "InstallPlanNotYetReconciled"}
		case plan.Status.Phase == olm.PlanRequiresApproval || plan.Status.Phase == olm.PlanInstalling:
			pending = &olm.Condition{Reason: string(plan.Status.Phase), Message: plan.Status.Message}
		case plan.Status.Phase == olm.PlanFailed:
			failed = &olm.Condition{Reason: failureReason(plan), Message: phrase.Clause(world.FailureText(plan)) + "; " + world.TryAgain(plan)}
		}
	}
	for _, x := range []struct {
		typ string
		c   *olm.Condition
	}{{world.InstallPlanMissing, missing}, {world.InstallPlanPending, pending}, {world.InstallPlanFailed, failed}} {
		if x.c == nil {
			change.ClearCondition(list, x.typ)
			continue
		}
		x.c.Type, x.c.Status = x.typ, olm.ConditionTrue
		p.SetCondition(list, *x.c)
	}
}

// failureReason returns the reason in the condition of a failed install plan, or a default.
func failureReason(ip *olm.InstallPlan) string {
	if c, ok := olm.FindCondition(ip.Status.Conditions, world.ConditionInstalled); ok && c.Status == olm.ConditionFalse && c.Reason != "" {
		return c.Reason
	}
	return world.InstallPlanFailed
}

// missingCSV sets a condition if an operator was deleted, with the fix, unless a new plan is being
// created.
func (p *planner) missingCSV(s *olm.Subscription) {
	if !p.IsDeleted(s) || p.Created != nil {
		change.ClearCondition(&s.Status.Conditions, ConditionCSVMissing)
		return
	}
	text := Gone{Subscription: s, Deleted: s.Status.CurrentCSV}.String()
	p.Note(s.Key(), "%s", text).Code = change.Code(resolver.HeldByDeletion)
	p.SetCondition(&s.Status.Conditions, olm.Condition{Type: ConditionCSVMissing, Status: olm.ConditionTrue, Reason: "ClusterServiceVersionNotFound", Message: text})
}

// healthStatus sets the health of the catalogs.
func (p *planner) healthStatus(s *olm.Subscription, catalogs []catalog.Health) {
	c := olm.Condition{Type: world.CatalogSourcesUnhealthy, Status: olm.ConditionFalse, Reason: "AllCatalogSourcesHealthy", Message: "all available catalogsources are healthy"}
	var list []olm.CatalogHealth
	var sick []string
	for _, h := range catalogs {
		m := &h.Source.Metadata
		entry := olm.CatalogHealth{
			CatalogSourceRef: olm.ObjectReference{APIVersion: h.Source.APIVersion, Kind: h.Source.Kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID},
			Healthy:          h.Entry.Unhealthy == "", LastUpdated: p.Now,
		}
		for _, old := range s.Status.CatalogHealth {
			if old.CatalogSourceRef.Name == m.Name && old.CatalogSourceRef.Namespace == m.Namespace && old.CatalogSourceRef.UID == m.UID && old.Healthy == entry.Healthy {
				entry = old
			}
		}
		list = append(list, entry)
		if h.Entry.Unhealthy != "" {
			sick = append(sick, fmt.Sprintf("%s/%s: %s", m.Namespace, m.Name, phrase.Clause(h.Entry.Unhealthy)))
		}
	}
	switch {
	case len(catalogs) == 0:
		c.Status, c.Reason, c.Message = olm.ConditionTrue, "NoCatalogSourcesFound", "dependency resolution requires at least one catalogsource"
	case len(sick) > 0:
		c.Status, c.Reason, c.Message = olm.ConditionTrue, "UnhealthyCatalogSourceFound", strings.Join(sick, "; ")
	}
	s.Status.CatalogHealth = list
	p.SetCondition(&s.Status.Conditions, c)
}

// resolveAll resolves the namespace and writes the result to next, the desired
// subscriptions.
func (p *planner) resolveAll(ctx context.Context, catalogs []catalog.Health, next []*olm.Subscription) error {
	pr := p.problem(catalogs)
	p.Problem = &pr
	sol, err := p.opts.Resolve(ctx, pr)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		p.Refused = err
		if p.refusal, err = refuse(ctx, err); err != nil {
			return err
		}
		for _, s := range next {
			p.SetCondition(&s.Status.Conditions, p.refusal.condition)
		}
		return p.installLost(ctx, catalogs, next)
	}
	p.Solution = sol
	var refused []string
	if sol.Refused != nil { // the caller accepts a part (G1)
		p.Refused = sol.Refused
		_, refused = sol.Refused.Subscriptions()
		if p.refusal, err = refuse(ctx, sol.Refused); err != nil {
			return err
		}
	}
	for i, s := range next {
		if slices.Contains(refused, s.Metadata.Name) {
			p.SetCondition(&s.Status.Conditions, p.refusal.condition)
		} else if c := p.stuckCondition(p.Subscriptions[i]); c != nil {
			p.SetCondition(&s.Status.Conditions, *c)
		} else {
			change.ClearCondition(&s.Status.Conditions, world.ResolutionFailed)
		}
	}
	if err := p.stays(ctx, sol, next); err != nil {
		return err
	}
	for _, g := range AllGone(p.World, sol) {
		if g.Next != "" {
			p.Note(g.Subscription.Key(), "%s", g)
		}
	}
	return p.install(ctx, again(p.absent(sol.Selected), p.lost(catalogs)), next)
}

// stays adds notes about operators that are not upgraded, get an older version than they could, or
// lose the way to a newer one, which the running OLM does not report (H1, H40). The error is the context's.
func (p *planner) stays(ctx context.Context, sol *resolver.Solution, next []*olm.Subscription) error {
	advice := map[string]resolver.Advice{} // by subscription
	rests := func(s resolver.Stay) bool {
		return s.Reason == resolver.StaysAtHead || s.Reason == resolver.StaysPresent
	}
	// If nothing changes, which is the usual case, no advice is needed.
	if len(sol.Selected) > 0 || slices.ContainsFunc(sol.Stayed, func(s resolver.Stay) bool { return !rests(s) }) {
		list, err := sol.Advice(ctx)
		if err != nil {
			return err
		}
		for _, a := range list {
			for _, name := range append([]string{a.Subscription}, a.Also...) {
				advice[name] = a
				if a.Kind == resolver.AdvicePassedOver || a.IsEarly() {
					p.Note(olm.Key{Group: olm.Group, Kind: olm.KindSubscription, Namespace: p.Namespace, Name: name}, "%s", a).Code = change.Version
				}
			}
		}
	}
	stays := make(map[string]resolver.Stay, len(sol.Stayed)) // one stay for each subscription
	for _, stay := range sol.Stayed {
		stays[stay.Subscription] = stay
		if stay.Reason == resolver.StaysPresent {
			p.Note(olm.Key{Group: olm.Group, Kind: olm.KindSubscription, Namespace: p.Namespace, Name: stay.Subscription},
				"nothing is installed for it: %s is already installed, and the subscription names neither a catalog nor a channel", stay.Name).Rule = "H23"
		}
	}
	for i, s := range next {
		stay, ok := stays[s.Metadata.Name]
		if !ok || stay.Reason == resolver.StaysPresent {
			continue
		}
		c := p.CSV(p.Subscriptions[i].Status.InstalledCSV)
		failed := c != nil && c.Status.Phase == olm.PhaseFailed // held unless it fails forward (E10)
		if !failed && s.Status.State != olm.StateAtLatestKnown {
			continue
		}
		why := ""
		switch stay.Reason {
		case resolver.StaysBlocked:
			var names []string
			for _, b := range stay.Blocked {
				names = append(names, b.Name)
			}
			why = fmt.Sprintf("its successors %s would violate a rule", strings.Join(names, ", "))
		case resolver.StaysNoSuccessor:
			why = "it has no successor in the channel"
		case resolver.StaysAtHead:
			if failed {
				why = "it is the head of its channel"
			}
		}
		if failed {
			p.Note(s.Key(), "%s failed, and %s: %s; publish a version that can replace it, or fix the cause", stay.Name, why, status.Cause(c))
			continue
		}
		if a, ok := advice[stay.Subscription]; ok && why != "" {
			p.Note(s.Key(), "%s", a).Code = change.Version
		} else if why != "" {
			p.Note(s.Key(), "%s stays: %s", stay.Name, why)
		}
	}
	return nil
}

// writeStatus plans the write of a subscription's status, if it changed.
func (p *planner) writeStatus(old, next *olm.Subscription) error {
	if olm.Equal(old, next) {
		return nil
	}
	rule, why := "", conditionChanges(old.Status.Conditions, next.Status.Conditions)
	var event *change.Event
	switch was, is := &old.Status, &next.Status; {
	case was.InstalledCSV != is.InstalledCSV:
		why = is.InstalledCSV + " is installed"
		event = &change.Event{Reason: string(is.State), Message: why}
	case was.CurrentCSV != is.CurrentCSV:
		why = fmt.Sprintf("%s was chosen", is.CurrentCSV)
	case was.State != is.State:
		why = fmt.Sprintf("its state is %s", is.State)
	default:
		if c, ok := olm.FindCondition(is.Conditions, world.ResolutionFailed); ok {
			if _, before := olm.FindCondition(was.Conditions, world.ResolutionFailed); !before {
				rule, why = "E4", "resolution failed"
				event = &change.Event{Warning: true, Reason: world.ResolutionFailed, Message: c.Message}
				if c.Message == p.refusal.condition.Message {
					event.Message = p.refusal.event
				}
			}
		}
	}
	next.Status.LastUpdated = p.Now
	if p.Now.IsZero() {
		next.Status.LastUpdated = old.Status.LastUpdated
	}
	if old.Status.CurrentCSV != next.Status.CurrentCSV {
		defer p.RestOn(p.resolved()...)()
	}
	return p.Emit(change.UpdateStatus, next, next.Key(), event, rule, "%s", why)
}

// conditionChanges describes how two lists of conditions differ.
func conditionChanges(old, next []olm.Condition) string {
	var parts []string
	for _, c := range next {
		was, ok := olm.FindCondition(old, c.Type)
		switch {
		case !ok || was.Status != c.Status || was.Reason != c.Reason:
			text := c.Type + " is " + c.Status
			if c.Reason != "" && c.Reason != c.Type {
				text += ", " + c.Reason
			}
			parts = append(parts, text)
		case was.Message != c.Message:
			parts = append(parts, c.Type+" changed")
		}
	}
	for _, c := range old {
		if _, ok := olm.FindCondition(next, c.Type); !ok {
			parts = append(parts, c.Type+" is removed")
		}
	}
	if len(parts) == 0 {
		return "what is known of its catalogs or its install plan"
	}
	return strings.Join(parts, "; ")
}
