package csv

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A transition is a change to a CSV's status.
type transition struct {
	phase   olm.Phase
	reason  olm.Reason
	message string
	// requirements are set if they were examined.
	requirements []olm.RequirementStatus
	checked      bool
	// on holds the objects that caused the transition, if it moves the CSV back to an
	// earlier phase. The caches of a cluster may differ in age, so a CSV may be read with
	// an outdated deployment.
	on []world.Version
}

// seen makes the transition depend on the objects that have a fault.
func (t *transition) seen(f *componentFault) *transition {
	t.on = f.on
	return t
}

func to(phase olm.Phase, reason olm.Reason, format string, args ...any) *transition {
	return &transition{phase: phase, reason: reason, message: visible.Lines(fmt.Sprintf(format, args...))}
}

// installations moves each CSV of the namespace through its phases. It first handles the
// operator group, then the phase.
func (p *planner) installations(ctx context.Context) error {
	for _, c := range p.Own() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if c.Metadata.IsDeleted() {
			continue
		}
		if err := p.installation(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) installation(c *olm.ClusterServiceVersion) error {
	j := operatorgroup.Judge(c, p.OperatorGroups)
	if g := j.Group; g != nil {
		if out, changed := operatorgroup.Annotate(c, g); changed {
			hold(out)
			return p.Emit(change.Update, out, c.Key(), nil, "F4", "a member of operator group %s", g.Metadata.Name)
		}
	} else if gs := p.Groups(); j.Failure != nil && len(gs) == 1 {
		if out, changed := operatorgroup.Annotate(c, gs[0]); changed { // as in OLM
			hold(out)
			return p.Emit(change.Update, out, c.Key(), nil, "F4", "operator group %s refuses it", gs[0].Metadata.Name)
		}
	}
	if held := *c; hold(&held) {
		return p.Emit(change.Update, &held, c.Key(), nil, "E22", "gets a finalizer, so that the objects created for it in other namespaces are deleted first")
	}
	switch {
	case j.Undecided:
		p.Note(c.Key(), "waits until its operator group has determined its targets")
		return nil
	case j.Failure != nil:
		return p.groupFailure(c, j)
	case j.Decision.Action != operatorgroup.Continue:
		return nil // the group's annotation is written first
	case j.Recovered:
		return p.transit(c, to(olm.PhasePending, reason.RequirementsUnknown, "the operator group admits the operator again"))
	}
	list, err := p.transitions(c)
	if err != nil {
		return err
	}
	return p.transit(c, list...)
}

// transitions returns the next transitions of a CSV that its group admits. A new CSV becomes
// Pending, and one whose deployments were written becomes Installing, and often moves on at
// once. Both transitions are then written together: the conditions of the CSV have the first
// one too (E36).
func (p *planner) transitions(c *olm.ClusterServiceVersion) ([]*transition, error) {
	t, err := p.next(c)
	if err != nil || !isNews(c, t) {
		return nil, err
	}
	if t.reason != reason.RequirementsUnknown && t.phase != olm.PhaseInstalling || c.Status.Phase == t.phase {
		return []*transition{t}, nil
	}
	if ip := p.Unmade(c); ip != nil && p.Touches(ip.Key()) && !p.Hindered(ip.Key()) {
		return nil, nil // the install plan, for which the CSV would wait, advances
	}
	then, err := p.next(p.after(c, t))
	return []*transition{t, then}, err
}

// hold gives a CSV the finalizer and reports whether it had none.
func hold(c *olm.ClusterServiceVersion) bool {
	if slices.Contains(c.Metadata.Finalizers, world.Finalizer) {
		return false
	}
	c.Metadata.Finalizers = append(slices.Clip(c.Metadata.Finalizers), world.Finalizer)
	return true
}

// groupFailure fails a CSV because of its group. A CSV that must not provide its APIs loses
// its deployments (F6).
func (p *planner) groupFailure(c *olm.ClusterServiceVersion, j operatorgroup.Judgement) error {
	if j.Decision.Failure != nil {
		defer p.RestOn(world.VersionOf(c))()
		for _, d := range p.deploymentsOf(c) {
			if err := p.Emit(change.Delete, d, c.Key(), nil, "F6", "%s", j.Failure.Reason); err != nil {
				return err
			}
		}
	}
	return p.transit(c, to(olm.PhaseFailed, j.Failure.Reason, "%s", j.Failure.Message))
}

// next returns the next transition of a CSV that its group admits, or nil. It plans the
// necessary changes to other objects.
func (p *planner) next(c *olm.ClusterServiceVersion) (*transition, error) {
	if r := p.Replacement(c); r != nil && r.Status.Phase == olm.PhaseSucceeded && c.Status.Phase != olm.PhaseReplacing && c.Status.Phase != olm.PhaseDeleting {
		// Its successor runs, so it does not matter why this CSV has no phase.
		return to(olm.PhaseReplacing, reason.BeingReplaced, replacedBy, r.Metadata.Name), nil
	}
	switch c.Status.Phase {
	case olm.PhaseNone, olm.PhaseUnknown:
		return to(olm.PhasePending, reason.RequirementsUnknown, "requirements not yet checked"), nil
	case olm.PhasePending:
		return p.withPermissions(c, p.pending)
	case olm.PhaseInstallReady:
		return p.installReady(c)
	case olm.PhaseInstalling:
		return p.installing(c)
	case olm.PhaseSucceeded:
		return p.succeeded(c)
	case olm.PhaseFailed:
		return p.failed(c)
	case olm.PhaseReplacing:
		return p.replacing(c), nil
	case olm.PhaseDeleting:
		return nil, p.Emit(change.Delete, c, c.Key(), nil, "", "%s replaced it", orNobody(p.Replacement(c)))
	}
	p.Note(c.Key(), "unknown phase %q", c.Status.Phase)
	return nil, nil
}

func orNobody(c *olm.ClusterServiceVersion) string {
	if c == nil {
		return "a newer version"
	}
	return c.Metadata.Name
}

// pending checks the requirements of the operator, in OLM's order.
func (p *planner) pending(c *olm.ClusterServiceVersion) *transition {
	if c.Status.Reason == reason.RequirementsNotMet {
		// The version that replaces it may not need what is missing.
		if t := p.beingReplaced(c); t != nil {
			return t
		}
	}
	if names := p.Circle(c); len(names) > 1 {
		p.Note(c.Key(), "%s", circleText(names))
		return to(olm.PhasePending, reason.RequirementsUnknown, "%s", circleText(names))
	}
	if r := p.rival(c); r != nil {
		p.Note(c.Key(), "%s", rivalText(c, r))
		return to(olm.PhasePending, reason.RequirementsUnknown, "%s", rivalText(c, r))
	}
	prev := p.Replaced(c)
	if prev != nil {
		if why := world.NotUpgradeable(p.Condition(prev.Metadata.Name)); why != "" {
			return to(olm.PhasePending, reason.ConditionNotUpgradeable, "%s is not upgradeable: %s", prev.Metadata.Name, why)
		}
	}
	t := p.check(c)
	if t == nil {
		p.Note(c.Key(), "stays %s: %s", c.Status.Phase, p.unknown(c))
		return nil
	}
	if t.phase != olm.PhaseInstallReady || prev == nil || prev.Status.Phase == olm.PhaseReplacing {
		return t
	}
	t.phase, t.message = olm.PhasePending, fmt.Sprintf("all requirements found, waits for %s to be ready to be replaced", prev.Metadata.Name)
	if prev.Status.Phase == olm.PhaseFailed && !p.FailForward() {
		p.Note(c.Key(), "waits for %s, which failed: an operator group with upgradeStrategy %s would let it be replaced", prev.Metadata.Name, olm.UpgradeFailForward).Rule = "E10"
	} else {
		p.Note(c.Key(), "waits for %s to be ready to be replaced (it is %s)", prev.Metadata.Name, status.Phase(prev))
	}
	return t
}

// unknown explains why a CSV neither advances nor fails.
func (p *planner) unknown(c *olm.ClusterServiceVersion) string {
	if p.isUnmade(c) {
		return "its install plan is not done yet"
	}
	return "its requirements are unknown, because not all of them were read"
}

// isUnmade reports whether the install plan of a CSV is not done yet.
func (p *planner) isUnmade(c *olm.ClusterServiceVersion) bool {
	return p.Unmade(c) != nil || p.Lost()[c.Metadata.Name]
}

// unmade returns why the install plan of a CSV does not create all objects of the bundle, or
// "". Without them, an operator would only seem to be installed (E40).
func (p *planner) unmade(c *olm.ClusterServiceVersion) string {
	ip := p.Unmade(c)
	switch {
	case ip == nil || ip.Status.Phase != olm.PlanFailed && ip.Status.Message == "":
		return ""
	case ip.Status.Phase == olm.PlanFailed:
		return fmt.Sprintf("install plan %q failed: %s", ip.Metadata.Name, world.FailureAdvice(ip))
	}
	return fmt.Sprintf("install plan %q is not done: %s", ip.Metadata.Name, ip.Status.Message)
}

// check checks everything except the upgrade: requirements, webhooks, other owners of the
// CRDs. It returns the resulting transition, which is to InstallReady if there is no fault. It
// returns nil if it is unknown whether the requirements are met.
func (p *planner) check(c *olm.ClusterServiceVersion) *transition {
	if why := p.unsupported(c); why != "" {
		return to(olm.PhaseFailed, reason.InvalidStrategy, "install strategy invalid: %s", why)
	}
	v, requirements := p.requirements(c)
	switch v {
	case unmet:
		// OLM's text, with what is missing (E36)
		t := to(olm.PhasePending, reason.RequirementsNotMet, "one or more requirements couldn't be found: %s", missing(requirements))
		t.requirements, t.checked = requirements, true
		return t
	case unknown:
		return nil
	}
	t := p.conflict(c)
	why := p.unmade(c)
	switch {
	case t != nil:
	case why != "":
		t = to(olm.PhasePending, reason.RequirementsNotMet, "one or more requirements couldn't be found: %s", why)
	case p.isUnmade(c):
		return nil
	default:
		t = to(olm.PhaseInstallReady, reason.RequirementsMet, "all requirements found, attempting install")
	}
	t.requirements, t.checked = requirements, true
	return t
}

// conflict returns the failure of a CSV that contradicts itself or another CSV
// of the namespace, or nil.
func (p *planner) conflict(c *olm.ClusterServiceVersion) *transition {
	if problem := serving.Check(c); problem != nil {
		return to(olm.PhaseFailed, problem.Reason, "%s", problem)
	}
	for _, o := range p.Claimants(c) {
		what := sharedAPI(c, o)
		if what != "" && !p.Related(c, o) {
			return to(olm.PhaseFailed, reason.OwnerConflict, "%s owns %s, too", o.Metadata.Name, what)
		}
		if d := p.takenDeployment(c, o); d != "" && !p.Related(c, o) {
			return to(olm.PhaseFailed, reason.OwnerConflict, "%s has a deployment %q, too", o.Metadata.Name, d)
		}
	}
	if name := p.foreignAPI(c); name != "" {
		return to(olm.PhaseFailed, reason.OwnerConflict, "unable to adopt APIService %s, which was not made for this operator", name)
	}
	return nil
}

// sharedAPI returns the first CRD, or else APIService, that two CSVs own.
func sharedAPI(c, o *olm.ClusterServiceVersion) string {
	for _, d := range c.Spec.CRDs.Owned {
		if slices.ContainsFunc(o.Spec.CRDs.Owned, func(x olm.CRDDescription) bool { return x.Name == d.Name }) {
			return "CRD " + d.Name
		}
	}
	for _, d := range c.Spec.APIServices.Owned {
		if slices.ContainsFunc(o.Spec.APIServices.Owned, func(x olm.APIServiceDescription) bool { return x.Group == d.Group && x.Version == d.Version }) {
			return fmt.Sprintf("APIService %s.%s", d.Version, d.Group)
		}
	}
	return ""
}

// replacedBy is OLM's message, so that a status that OLM wrote stays the same.
const replacedBy = "being replaced by csv: %s"

func (p *planner) replacing(c *olm.ClusterServiceVersion) *transition {
	if names := p.Circle(c); len(names) > 1 {
		p.Note(c.Key(), "%s", circleText(names))
		return to(olm.PhaseReplacing, reason.BeingReplaced, "%s", circleText(names))
	}
	next := p.Replacement(c)
	if prev := p.Replaced(c); prev != nil { // the oldest of a chain goes first
		p.Note(c.Key(), "stays until %s, which it replaced, is gone (it is %s)", prev.Metadata.Name, status.Phase(prev))
		return to(olm.PhaseReplacing, reason.BeingReplaced, replacedBy, orNobody(next))
	}
	if next == nil {
		// The running OLM stays here forever.
		return to(olm.PhasePending, reason.NeedsReinstall, "the version that was to replace it is gone")
	}
	stays := to(olm.PhaseReplacing, reason.BeingReplaced, replacedBy, next.Metadata.Name)
	if p.FailForward() {
		seen := map[string]bool{}
		for n := p.Replacement(next); n != nil && !seen[n.Metadata.Name]; n = p.Replacement(n) {
			seen[n.Metadata.Name] = true
			next = n
		}
	}
	if next.Status.Phase == olm.PhaseSucceeded {
		return to(olm.PhaseDeleting, reason.Replaced, "has been replaced by %s, which has successfully installed", next.Metadata.Name)
	}
	p.Note(c.Key(), "stays until %s has succeeded (it is %s)", next.Metadata.Name, status.Phase(next))
	return stays
}

// arriving returns the CSV that is going to replace another one, if it exists and neither
// its group nor the older operator blocks it permanently.
func (p *planner) arriving(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	next := p.Replacement(c)
	if next == nil || next.Metadata.IsDeleted() || next.Status.Phase == olm.PhaseFailed || world.NotUpgradeable(p.Condition(c.Metadata.Name)) != "" {
		return nil
	}
	if j := operatorgroup.Judge(next, p.OperatorGroups); j.Failure != nil {
		return nil
	}
	return next
}

// beingReplaced returns the transition of a CSV that a newer one can replace: the operator
// is upgradeable (E6), the group of the newer one admits it, and its requirements are met.
// Until then the older one continues unchanged.
func (p *planner) beingReplaced(c *olm.ClusterServiceVersion) *transition {
	next := p.arriving(c)
	if next == nil {
		return nil
	}
	if j := operatorgroup.Judge(next, p.OperatorGroups); j.Group == nil || j.Decision.Action != operatorgroup.Continue {
		return nil
	}
	if t := p.check(next); t == nil || t.phase != olm.PhaseInstallReady {
		return nil
	}
	return to(olm.PhaseReplacing, reason.BeingReplaced, replacedBy, next.Metadata.Name)
}

// isNews reports whether a transition changes the status of a CSV.
func isNews(c *olm.ClusterServiceVersion, t *transition) bool {
	if t == nil {
		return false
	}
	st := &c.Status
	return st.Phase != t.phase || st.Reason != t.reason || st.Message != t.message ||
		t.checked && !sameRequirements(st.RequirementStatus, t.requirements)
}

// maxCSVConditions is the number of former states that a CSV records.
const maxCSVConditions = 20

// transit plans the write of a CSV's status after some transitions, if it changes.
func (p *planner) transit(c *olm.ClusterServiceVersion, list ...*transition) error {
	out, last := c, (*transition)(nil)
	var on []world.Version
	for _, t := range list {
		if !isNews(out, t) {
			continue
		}
		out, last, on = p.after(out, t), t, append(on, t.on...)
		if t.phase == olm.PhaseInstalling {
			if err := p.setRotation(c, &out.Status); err != nil {
				return err
			}
		}
	}
	if last == nil {
		return nil
	}
	event := &change.Event{Reason: string(last.reason), Message: last.message, Warning: last.phase == olm.PhaseFailed}
	defer p.RestOn(on...)()
	return p.Emit(change.UpdateStatus, out, c.Key(), event, "", "%s, %s: %s", last.phase, last.reason, last.message)
}

// after returns a CSV as it is after a transition.
func (p *planner) after(c *olm.ClusterServiceVersion, t *transition) *olm.ClusterServiceVersion {
	out := *c
	st := &out.Status
	if t.checked && !sameRequirements(st.RequirementStatus, t.requirements) {
		st.RequirementStatus = t.requirements
	}
	if st.Phase != t.phase || st.Reason != t.reason {
		st.LastTransitionTime = p.Now
		st.Conditions = append(slices.Clip(st.Conditions), olm.CSVCondition{
			Phase: t.phase, Reason: t.reason, Message: t.message, LastUpdateTime: p.Now, LastTransitionTime: p.Now,
		})
		if n := len(st.Conditions); n > maxCSVConditions {
			st.Conditions = st.Conditions[n-maxCSVConditions:]
		}
	}
	st.Phase, st.Reason, st.Message, st.LastUpdateTime = t.phase, t.reason, t.message, p.Now
	return &out
}
