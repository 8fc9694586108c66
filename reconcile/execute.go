package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// executePlans advances the install plans of the namespace (E2). Only approved plans
// are executed.
func (p *planner) executePlans(ctx context.Context) error {
	for _, ip := range p.InstallPlans {
		if ip.Metadata.IsDeleted() || isFinished(ip) {
			continue
		}
		if err := p.executePlan(ctx, ip); err != nil {
			return err
		}
	}
	return nil
}

// failedPlans notes the install plans that failed (E2), unless one that is being
// created replaces them.
func (p *planner) failedPlans(context.Context) error {
	for _, ip := range p.InstallPlans {
		if ip.Status.Phase != olm.PlanFailed || ip.Metadata.IsDeleted() || !p.isWanted(ip) {
			continue
		}
		dropped := p.created != nil && isGenerated(ip)
		for _, s := range p.Subscriptions {
			if ref := s.Status.InstallPlanRef; ref != nil && ref.Name == ip.Metadata.Name {
				if dropped = p.moved[s]; !dropped {
					break
				}
			}
		}
		if !dropped {
			p.note(ip.Key(), "failed and is not retried: %s; %s", clause(failureText(ip)), tryAgain(ip))
		}
	}
	return nil
}

// failureText returns why a plan failed. OLM writes the cause into its message, into
// the condition Installed, or into that of the bundle that could not be unpacked.
func failureText(ip *olm.InstallPlan) string {
	if ip.Status.Message != "" {
		return ip.Status.Message
	}
	if c, ok := olm.FindCondition(ip.Status.Conditions, conditionInstalled); ok && c.Status == olm.ConditionFalse && c.Message+c.Reason != "" {
		return cmp.Or(c.Message, c.Reason)
	}
	for _, l := range ip.Status.BundleLookups {
		if c, ok := olm.FindCondition(l.Conditions, olm.BundleLookupFailed); ok && c.Status == olm.ConditionTrue && c.Message+c.Reason != "" {
			return fmt.Sprintf("bundle %s: %s", l.Identifier, cmp.Or(c.Message, c.Reason))
		}
	}
	return "its status does not give the cause"
}

// tryAgain returns how to recover from a failed plan.
func tryAgain(ip *olm.InstallPlan) string {
	return fmt.Sprintf("to try again, fix the cause and delete install plan %q: a new one is created", ip.Metadata.Name)
}

func (p *planner) executePlan(ctx context.Context, ip *olm.InstallPlan) error {
	switch {
	case !p.isWanted(ip) && p.isLate(ip):
		return p.emit(Delete, ip, ip.Key(), nil, "a later one was created before it had steps")
	case !p.isWanted(ip):
		if ip.Status.Phase != "" { // otherwise it was just made
			p.note(ip.Key(), "superseded: no subscription refers to it")
		}
		return nil
	case len(lookups(ip)) > 0:
		return p.unpack(ctx, ip)
	case len(ip.Status.Plan) == 0 && isGenerated(ip):
		p.note(ip.Key(), "has no steps yet; its resolution adds them")
		return nil
	case len(ip.Status.Plan) == 0:
		p.note(ip.Key(), "has neither steps nor bundles to unpack, and will not get any; delete it")
		return nil
	case !ip.Spec.Approved && ip.Status.Phase != olm.PlanRequiresApproval:
		out := *ip
		out.Status.Phase = olm.PlanRequiresApproval
		return p.emit(UpdateStatus, &out, ip.Key(), nil, "it is not approved")
	case !ip.Spec.Approved:
		p.note(ip.Key(), "waits for approval; set /spec/approved to install %s", list(ip.Spec.ClusterServiceVersionNames))
		return nil
	case ip.Status.Phase != olm.PlanInstalling:
		out := *ip
		out.Status.Phase, out.Status.Message = olm.PlanInstalling, ""
		return p.emit(UpdateStatus, &out, ip.Key(), nil, "it was approved")
	}
	e := &execution{planner: p, plan: ip, out: *ip, unpacked: map[string][]olm.Step{}}
	e.out.Status.Plan = slices.Clone(ip.Status.Plan)
	if e.out.Status.StartTime.IsZero() {
		e.out.Status.StartTime = p.Now
	}
	if err := operatorgroup.Gate(p.groups(), p.hasServiceAccount); err != nil {
		return e.closed(err)
	}
	if c, ok := olm.FindCondition(e.out.Status.Conditions, conditionInstalled); ok && c.Reason == reasonInstallCheckFailed {
		clearCondition(&e.out.Status.Conditions, conditionInstalled)
		e.out.Status.Message = ""
	}
	if text := e.refused(); text != "" {
		// Report first, then retry: a step that is refused again would prevent the
		// status from being written.
		e.fault(text)
		if !olm.Equal(ip, &e.out) {
			return e.write("%s", e.out.Status.Message)
		}
	}
	return e.run(ctx)
}

// The condition of an install plan, and its reasons.
const (
	conditionInstalled       = "Installed"
	reasonInstallCheckFailed = "InstallCheckFailed"
	reasonComponentFailed    = "InstallComponentFailed"
)

// isWanted reports whether a plan may be executed at all: one that a resolution
// made is, as long as a subscription refers to it. A newer resolution takes the
// reference away, and the older plan can do no harm.
func (p *planner) isWanted(ip *olm.InstallPlan) bool {
	return !isGenerated(ip) || p.isReferred(ip) || p.isForDependencies(ip)
}

// isForDependencies reports whether the newest plan brings nothing but what
// installed operators require, so that no subscription can refer to it: it
// brings one for each of its CSVs.
func (p *planner) isForDependencies(ip *olm.InstallPlan) bool {
	if ip != p.InstallPlans[len(p.InstallPlans)-1] || len(ip.Spec.ClusterServiceVersionNames) == 0 {
		return false
	}
	for _, name := range ip.Spec.ClusterServiceVersionNames {
		if !slices.ContainsFunc(ip.Status.Plan, func(s olm.Step) bool { return s.Resolving == name && isSubscription(s.Resource) }) {
			return false
		}
	}
	return true
}

// isLate reports whether a plan that a resolution made has no steps and never gets
// any: a subscription has had one of its generation or a later one. A loop that
// slept made it.
func (p *planner) isLate(ip *olm.InstallPlan) bool {
	return ip.Status.Phase == "" && len(ip.Status.Plan) == 0 && len(lookups(ip)) == 0 &&
		slices.ContainsFunc(p.Subscriptions, func(s *olm.Subscription) bool { return s.Status.InstallPlanGeneration >= ip.Spec.Generation })
}

// isReferred reports whether a subscription refers to a plan.
func (p *planner) isReferred(ip *olm.InstallPlan) bool {
	return slices.ContainsFunc(p.Subscriptions, func(s *olm.Subscription) bool {
		ref := s.Status.InstallPlanRef
		return ref != nil && ref.Name == ip.Metadata.Name
	})
}

// An execution is the run of one plan.
type execution struct {
	*planner
	plan *olm.InstallPlan
	out  olm.InstallPlan
	// unpacked are the steps of bundles that steps refer to, by CSV.
	unpacked map[string][]olm.Step
	// problems prevent steps; waits end without a change to the plan.
	problems, waits []string
	// leaving are the CSVs that those of the plan replace, once they are needed.
	leaving map[string]bool
}

// closed reports that the operator group does not admit CSVs (F10).
func (e *execution) closed(why error) error {
	message := visible.Lines(why.Error())
	e.out.Status.Message = message
	e.setCondition(&e.out.Status.Conditions, olm.Condition{Type: conditionInstalled, Status: olm.ConditionFalse, Reason: reasonInstallCheckFailed, Message: message})
	return e.write("%s (F10)", message)
}

// run plans the steps that can be done now, CRDs first and then the others in
// their order, and what became of them. A step that was done before the status
// recorded it is found done. While a CRD is held up nothing else is done: no operator
// is created without its API (E3).
func (e *execution) run(ctx context.Context) error {
	defer e.restOn(as(e.plan))()
	pending := false
	var heldUp []string
	for _, crds := range []bool{true, false} {
		for i := range e.out.Status.Plan {
			step := &e.out.Status.Plan[i]
			if isCRD(step.Resource) != crds {
				continue
			}
			if len(heldUp) > 0 && !crds {
				pending = pending || !isDone(step)
				if isCSV(step.Resource) && !isDone(step) {
					e.note(e.plan.Key(), "%s is not created until %s exists", step.Resource.Name, list(heldUp))
				}
				continue
			}
			ok, err := e.take(ctx, step)
			if err != nil {
				return err
			}
			if crds && !ok {
				heldUp = append(heldUp, olm.KindCRD+" "+step.Resource.Name)
			}
			pending = pending || !isDone(step)
		}
	}
	return e.outcome(pending)
}

// take plans a step. It reports whether the steps that rest on it may follow.
func (e *execution) take(ctx context.Context, step *olm.Step) (ok bool, err error) {
	if isDone(step) {
		return true, nil
	}
	text, err := e.manifest(ctx, step)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err != nil {
		e.waits = append(e.waits, err.Error())
		return false, nil
	}
	var o olm.Object
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		e.problems = append(e.problems, fmt.Sprintf("%s %s: the manifest of the step cannot be read: %s", step.Resource.Kind, step.Resource.Name, err))
		return false, nil
	}
	key := o.Key()
	have, err := e.find(key)
	if err != nil {
		return false, err
	}
	if have != nil && have.Metadata.IsDeleted() { // it will soon be gone
		e.waits = append(e.waits, key.String()+" "+leavingText(&have.Header))
		return false, nil
	}
	status, problem, err := e.step(ctx, step, o)
	if err != nil {
		return false, err
	}
	step.Status = status
	if problem != "" {
		e.problems = append(e.problems, problem)
	}
	refused := slices.ContainsFunc(e.Rejections, func(r Rejection) bool { return e.isStep(r) && r.Key == key })
	return problem == "" && !refused && (isDone(step) || status == olm.StepWaitingForAPI), nil
}

func isDone(s *olm.Step) bool { return s.Status == olm.StepCreated || s.Status == olm.StepPresent }

// isStep reports whether what the cluster refused was a step of the plan.
func (e *execution) isStep(r Rejection) bool { return r.For == e.plan.Key() && r.Key != r.For }

// refused describes the steps that the cluster refused in the last pass, if any.
func (e *execution) refused() string {
	var parts []string
	for _, r := range e.Rejections {
		if e.isStep(r) {
			parts = append(parts, fmt.Sprintf("%s: %s", r.Key, clause(r.Message)))
		}
	}
	return strings.Join(parts, "; ")
}

// retrying reports whether the plan tries again what was refused.
func (e *execution) retrying() bool {
	return slices.ContainsFunc(e.Rejections, func(r Rejection) bool { return e.isStep(r) && e.touched[r.Key] })
}

// fault records a problem. After the timeout the plan fails with it.
func (e *execution) fault(text string) {
	text = visible.Lines(text)
	st := &e.out.Status
	if e.past(e.plan.Status.StartTime, e.opts.planTimeout()) {
		st.Phase, st.Message = olm.PlanFailed, text
		e.setCondition(&st.Conditions, olm.Condition{Type: conditionInstalled, Status: olm.ConditionFalse, Reason: reasonComponentFailed, Message: text})
		return
	}
	st.Message = "retrying execution due to error: " + text
}

func (e *execution) outcome(pending bool) error {
	st := &e.out.Status
	switch text := strings.Join(e.problems, "; "); {
	case text != "":
		e.fault(text)
		return e.write("%s", st.Message)
	case e.retrying():
		return nil // what was refused is tried again first
	case !pending:
		st.Phase, st.Message = olm.PlanComplete, ""
		e.setCondition(&st.Conditions, olm.Condition{Type: conditionInstalled, Status: olm.ConditionTrue})
		return e.write("done: %s", countSteps(len(st.Plan)))
	}
	if st.Message = ""; len(e.waits) > 0 {
		st.Message = visible.Lines("waits: " + strings.Join(e.waits, "; "))
		e.note(e.plan.Key(), "%s", st.Message)
	}
	return e.write("done: %d of %s", e.done(), countSteps(len(st.Plan)))
}

func (e *execution) done() int {
	n := 0
	for i := range e.out.Status.Plan {
		if isDone(&e.out.Status.Plan[i]) {
			n++
		}
	}
	return n
}

func (e *execution) write(format string, args ...any) error {
	if olm.Equal(e.plan, &e.out) {
		return nil
	}
	return e.emit(UpdateStatus, &e.out, e.plan.Key(), nil, format, args...)
}

// step plans one step and returns its status once the plan is carried out, and
// what stands in its way, if anything.
func (e *execution) step(ctx context.Context, s *olm.Step, o olm.Object) (status olm.StepStatus, problem string, err error) {
	if e.touched[o.Key()] {
		return s.Status, "", nil // after the change that is planned already
	}
	switch k := o.Key(); k.Group + "/" + k.Kind {
	case olm.GroupCRD + "/" + olm.KindCRD:
		return e.crdStep(ctx, s, o)
	case olm.Group + "/" + olm.KindClusterServiceVersion:
		return e.csvStep(s, o)
	case olm.Group + "/" + olm.KindSubscription:
		if pick(e.Subscriptions, k) != nil {
			return olm.StepPresent, "", nil
		}
		o.Metadata.SetAnnotation(AnnotationGeneratedBy, e.plan.Metadata.Name)
		return olm.StepCreated, "", e.emit(Create, &o, e.plan.Key(), nil, "keeps the dependency %s current", s.Resolving)
	}
	return e.ownedStep(s, o)
}

// csvStep plans the creation of an operator. A copy of the same name does not
// make way: the operator that it is of serves this namespace, so that a second
// one would provide the same APIs, which F6 forbids. The running OLM takes the
// copy for the operator and its step for done (F8).
func (e *execution) csvStep(s *olm.Step, o olm.Object) (olm.StepStatus, string, error) {
	if r, ok := pick(e.CSVs, o.Key()).(*olm.ClusterServiceVersion); ok {
		c := r
		if !c.IsCopied() {
			return olm.StepPresent, "", e.adopt(c)
		}
		from := operatorgroup.CopiedFrom(c)
		original := olm.Key{Group: olm.Group, Kind: olm.KindClusterServiceVersion, Namespace: from, Name: c.Metadata.Name}
		if r := pick(e.CSVs, original); r != nil && !r.Head().Metadata.IsDeleted() {
			return s.Status, fmt.Sprintf("%s is in the way: it is a copy of the operator in namespace %s, which serves this namespace already (F8); delete the subscription, or take this namespace from the targets of that operator's group first", c.Key(), from), nil
		}
		return s.Status, fmt.Sprintf("%s is in the way: it is a copy of an operator in namespace %s that is gone (F8); delete it if nobody else does", c.Key(), from), nil
	}
	event := &Event{Type: Normal, Reason: "Installing", Message: s.Resolving}
	o.Metadata.SetAnnotation(AnnotationGeneratedBy, e.plan.Metadata.Name)
	return olm.StepCreated, "", e.emit(Create, &o, e.plan.Key(), event, "step of the install plan for %s", s.Resolving)
}

// adopt makes a CSV that a lost plan brought one of this plan, which does what
// is left of that one.
func (e *execution) adopt(c *olm.ClusterServiceVersion) error {
	by := c.Metadata.Annotations[AnnotationGeneratedBy]
	if by == "" || by == e.plan.Metadata.Name || e.installPlan(by) != nil {
		return nil
	}
	out := *c
	out.Metadata.SetAnnotation(AnnotationGeneratedBy, e.plan.Metadata.Name)
	return e.emit(Update, &out, e.plan.Key(), nil, "the install plan %q that brought it is gone; this one does the rest", by)
}

// ownedStep plans an object that goes with its CSV.
func (e *execution) ownedStep(s *olm.Step, o olm.Object) (olm.StepStatus, string, error) {
	owner := e.csv(s.Resolving)
	if owner == nil {
		return s.Status, "", nil // the CSV first: its object names it
	}
	if o.Metadata.Namespace == owner.Metadata.Namespace {
		o.Metadata.OwnerReferences = unionOwners(o.Metadata.OwnerReferences, []olm.OwnerReference{olm.OwnedBy(owner)})
		for i, r := range o.Metadata.OwnerReferences {
			if r.Kind == owner.Kind && r.Name == owner.Metadata.Name {
				o.Metadata.OwnerReferences[i].UID = owner.Metadata.UID
			}
		}
	}
	exists, err := e.find(o.Key())
	if err != nil {
		return s.Status, "", err
	}
	ok, err := e.ensure(&o, e.plan.Key(), nil, "step of the install plan for %s", s.Resolving)
	switch {
	case err != nil:
		return s.Status, "", err
	case ok || exists != nil:
		return olm.StepPresent, "", nil
	}
	return olm.StepCreated, "", nil
}
