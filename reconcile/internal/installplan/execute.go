package installplan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

func (p *planner) attenuatePlans() {
	for _, ip := range p.InstallPlans {
		if !world.IsFinished(ip) && !ip.Metadata.IsDeleted() && p.IsWanted(ip) {
			p.Attenuate(ip.Key(), ip.Status.Plan)
		}
	}
}

// executePlans advances the install plans of the namespace (E2). Only approved plans
// are executed.
func (p *planner) executePlans(ctx context.Context) error {
	for _, ip := range p.InstallPlans {
		if ip.Metadata.IsDeleted() || world.IsFinished(ip) {
			continue
		}
		if err := p.executePlan(ctx, ip); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) executePlan(ctx context.Context, ip *olm.InstallPlan) error {
	switch {
	case !p.IsWanted(ip) && p.isLate(ip):
		return p.Emit(change.Delete, ip, ip.Key(), nil, "", "superseded by a later install plan before it had steps")
	case !p.IsWanted(ip):
		if ip.Status.Phase != "" { // a plan without a phase was just created
			p.Note(ip.Key(), "superseded: no subscription refers to it")
		}
		return nil
	case len(lookups(ip)) > 0:
		return p.unpack(ctx, ip)
	case len(ip.Status.Plan) == 0 && world.IsGenerated(ip):
		text := "has no steps yet; its resolution adds them"
		switch n := len(p.Groups()); {
		case n == 0:
			text = "waits until its namespace has an operator group"
		case n > 1:
			text = "waits until its namespace has only one operator group"
		}
		p.Note(ip.Key(), "%s", text).Code = change.Code(resolver.HeldByGroup)
		return nil
	case len(ip.Status.Plan) == 0:
		p.Note(ip.Key(), "has neither steps nor bundles to unpack, and will not get any; delete it")
		return nil
	case !ip.Spec.Approved && ip.Status.Phase != olm.PlanRequiresApproval:
		out := *ip
		out.Status.Phase = olm.PlanRequiresApproval
		return p.Emit(change.UpdateStatus, &out, ip.Key(), nil, "", "it is not approved")
	case !ip.Spec.Approved:
		p.Note(ip.Key(), "waits for approval; set /spec/approved to install %s", phrase.Join(ip.Spec.ClusterServiceVersionNames, "and")).Code = change.Code(resolver.HeldByApproval)
		return nil
	case ip.Status.Phase != olm.PlanInstalling:
		out := *ip
		out.Status.Phase, out.Status.Message = olm.PlanInstalling, ""
		return p.Emit(change.UpdateStatus, &out, ip.Key(), nil, "", "it was approved")
	}
	e := &execution{planner: p, plan: ip, out: *ip, unpacked: map[string][]olm.Step{}, crds: crd.New(p.World, p.Writer, ip, p.opts.CRDs)}
	e.out.Status.Plan = slices.Clone(ip.Status.Plan)
	if e.out.Status.StartTime.IsZero() {
		e.out.Status.StartTime = p.Now
	}
	if err := operatorgroup.Gate(p.Groups(), p.HasServiceAccount); err != nil {
		return e.closed(err)
	}
	e.out.Status.AttenuatedServiceAccountRef = p.Groups()[0].Status.ServiceAccountRef               // E33
	if account := p.Installer(); account != "" && e.out.Status.AttenuatedServiceAccountRef == nil { // the group is about to refer to it
		e.out.Status.AttenuatedServiceAccountRef = &olm.ObjectReference{APIVersion: "v1", Kind: "ServiceAccount", Namespace: p.Namespace, Name: account}
	}
	if c, ok := olm.FindCondition(e.out.Status.Conditions, world.ConditionInstalled); ok && c.Reason == world.ReasonInstallCheckFailed {
		change.ClearCondition(&e.out.Status.Conditions, world.ConditionInstalled)
		e.out.Status.Message = ""
	}
	return e.run(ctx)
}

// isLate reports whether a plan without steps will never get any, because a subscription
// refers to a plan of the same or a later generation. Such a plan was created by a loop that
// was delayed.
func (p *planner) isLate(ip *olm.InstallPlan) bool {
	return ip.Status.Phase == "" && len(ip.Status.Plan) == 0 && len(lookups(ip)) == 0 &&
		slices.ContainsFunc(p.Subscriptions, func(s *olm.Subscription) bool { return s.Status.InstallPlanGeneration >= ip.Spec.Generation })
}

// An execution is the run of one plan.
type execution struct {
	*planner
	plan *olm.InstallPlan
	out  olm.InstallPlan
	// unpacked holds the steps of the bundles to which steps of the plan refer, by CSV.
	unpacked map[string][]olm.Step
	// problems are the reasons why steps cannot be executed. waits are what the plan
	// waits for; when that happens, the plan itself need not change.
	problems, waits []string
	// refused are the steps that the cluster refused in the last pass.
	refused []*olm.Step
	crds    *crd.Upgrades
	// defined holds the CRDs of the plan. It is computed on first use.
	defined []olm.Object
}

// closed handles a plan whose operator group does not admit CSVs (F10).
func (e *execution) closed(why error) error {
	message := visible.Lines(why.Error())
	e.out.Status.Message = message
	e.SetCondition(&e.out.Status.Conditions, olm.Condition{Type: world.ConditionInstalled, Status: olm.ConditionFalse, Reason: world.ReasonInstallCheckFailed, Message: message})
	return e.write("F10", "%s", message)
}

// run plans the steps that can be executed now, CRDs first and then the others in order,
// and updates their statuses. A step whose object already exists counts as done. If a CRD
// is blocked, no other step is executed, so that no operator is created without its API
// (E3). Refused steps are reported, then retried after the others: a step that is refused again
// ends the plan's part of the pass (E40).
func (e *execution) run(ctx context.Context) error {
	defer e.RestOn(world.VersionOf(e.plan))()
	pending := false
	var heldUp []string
	for _, crds := range []bool{true, false} {
		for i := range e.out.Status.Plan {
			step := &e.out.Status.Plan[i]
			if world.IsCRD(step.Resource) != crds {
				continue
			}
			if len(heldUp) > 0 && !crds {
				pending = pending || !world.IsDone(step)
				if world.IsCSV(step.Resource) && !world.IsDone(step) {
					e.Note(e.plan.Key(), "%s is not created until %s exists", step.Resource.Name, phrase.Join(heldUp, "and"))
				}
				continue
			}
			ok, err := e.take(ctx, step, false)
			if err != nil {
				return err
			}
			if crds && !ok {
				heldUp = append(heldUp, olm.KindCRD+" "+step.Resource.Name)
			}
			pending = pending || !world.IsDone(step)
		}
	}
	if text := e.refusals(); text != "" {
		e.fault(strings.Join(append([]string{text}, e.problems...), "; "))
		if !olm.Equal(e.plan, &e.out) {
			return e.write("", "%s", e.out.Status.Message)
		}
	}
	for _, step := range e.refused {
		if _, err := e.take(ctx, step, true); err != nil {
			return err
		}
	}
	if len(e.refused) > 0 {
		return nil
	}
	return e.outcome(pending)
}

// take plans a step (E21). A step that was refused is only noted, unless retry is set. It
// reports whether the steps that depend on it may be planned too.
func (e *execution) take(ctx context.Context, step *olm.Step, retry bool) (ok bool, err error) {
	if world.IsDone(step) {
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
	resource := step.Resource
	resource.Manifest = text
	o, err := resource.Object()
	if err != nil {
		e.problems = append(e.problems, fmt.Sprintf("%s: the manifest of the step cannot be read: %s", strings.TrimSpace(resource.Kind+" "+resource.Name), err))
		return false, nil
	}
	o.Metadata.Namespace = e.Namespace
	if e.IsClusterScoped(o.Key(), e.definitions()) {
		o.Metadata.Namespace = ""
	}
	o.Metadata.SetLabel(ownerlabel.Managed, "true")
	key := o.Key()
	have, err := e.Find(key)
	if err != nil {
		return false, err
	}
	if have != nil && have.Metadata.IsDeleted() { // it is being deleted
		e.waits = append(e.waits, key.String()+" "+status.Leaving(&have.Header))
		return false, nil
	}
	if !retry && slices.ContainsFunc(e.Refusals, func(r world.Refusal) bool { return e.isStep(r) && r.Key == key }) {
		e.refused = append(e.refused, step)
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
	return problem == "" && (world.IsDone(step) || status == olm.StepWaitingForAPI), nil
}

// definitions returns the CRDs in the plan.
func (e *execution) definitions() []olm.Object {
	if e.defined == nil {
		e.defined = []olm.Object{}
		for i := range e.plan.Status.Plan {
			r := &e.plan.Status.Plan[i].Resource
			if o, err := r.Object(); world.IsCRD(*r) && err == nil {
				e.defined = append(e.defined, o)
			}
		}
	}
	return e.defined
}

// isStep reports whether a refused change was a step of the plan.
func (e *execution) isStep(r world.Refusal) bool { return r.For == e.plan.Key() && r.Key != r.For }

// refusals describes the steps that the cluster refused in the last pass, if any.
func (e *execution) refusals() string {
	var parts []string
	for _, r := range e.Refusals {
		if e.isStep(r) {
			parts = append(parts, fmt.Sprintf("%s: %s", r.Key, phrase.Clause(r.Message)))
		}
	}
	return strings.Join(parts, "; ")
}

// fault records a problem in the plan, which fails after the timeout, unless a permission is
// missing, which may be granted later (E33).
func (e *execution) fault(text string) {
	text = visible.Lines(text)
	st := &e.out.Status
	isForbidden := slices.ContainsFunc(e.Refusals, func(r world.Refusal) bool { return e.isStep(r) && r.Forbidden })
	if !isForbidden && e.Past(e.plan.Status.StartTime, e.opts.Timeout) {
		st.Phase, st.Message = olm.PlanFailed, text
		e.SetCondition(&st.Conditions, olm.Condition{Type: world.ConditionInstalled, Status: olm.ConditionFalse, Reason: world.ReasonComponentFailed, Message: text})
		return
	}
	st.Message = "retrying execution due to error: " + text
}

func (e *execution) outcome(pending bool) error {
	st := &e.out.Status
	switch text := strings.Join(e.problems, "; "); {
	case text != "":
		e.fault(text)
		return e.write("", "%s", st.Message)
	case !pending:
		st.Phase, st.Message = olm.PlanComplete, ""
		e.SetCondition(&st.Conditions, olm.Condition{Type: world.ConditionInstalled, Status: olm.ConditionTrue})
		return e.write("", "done: %s", phrase.Count(len(st.Plan), "step"))
	}
	if st.Message = ""; len(e.waits) > 0 {
		st.Message = visible.Lines("waits: " + strings.Join(e.waits, "; "))
		e.Note(e.plan.Key(), "%s", st.Message).StatesStatus = true
	}
	return e.write("", "done: %d of %s", e.done(), phrase.Count(len(st.Plan), "step"))
}

func (e *execution) done() int {
	n := 0
	for i := range e.out.Status.Plan {
		if world.IsDone(&e.out.Status.Plan[i]) {
			n++
		}
	}
	return n
}

func (e *execution) write(rule, format string, args ...any) error {
	if olm.Equal(e.plan, &e.out) {
		return nil
	}
	return e.Emit(change.UpdateStatus, &e.out, e.plan.Key(), nil, rule, format, args...)
}

// step plans one step. It returns the status of the step after the change, and what blocks
// the step, if anything.
func (e *execution) step(ctx context.Context, s *olm.Step, o olm.Object) (status olm.StepStatus, problem string, err error) {
	if e.Touches(o.Key()) {
		return s.Status, "", nil // the change is already planned
	}
	switch k := o.Key(); k.Group + "/" + k.Kind {
	case olm.GroupCRD + "/" + olm.KindCRD:
		return e.crds.Step(ctx, s, o)
	case olm.Group + "/" + olm.KindClusterServiceVersion:
		return e.csvStep(s, o)
	case olm.Group + "/" + olm.KindSubscription:
		if world.Pick(e.Subscriptions, k) != nil {
			return olm.StepPresent, "", nil
		}
		o.Metadata.SetAnnotation(world.AnnotationGeneratedBy, e.plan.Metadata.Name)
		return olm.StepCreated, "", e.Emit(change.Create, &o, e.plan.Key(), nil, "", "keeps the dependency %s current", s.Resolving)
	}
	return e.ownedStep(s, o)
}

// csvStep plans the creation of a CSV. A copy of the same name blocks it: the original
// operator already serves this namespace, and F6 forbids a second one with the same APIs.
// The running OLM mistakes the copy for the operator and considers the step done (F8).
func (e *execution) csvStep(s *olm.Step, o olm.Object) (olm.StepStatus, string, error) {
	if r, ok := world.Pick(e.CSVs, o.Key()).(*olm.ClusterServiceVersion); ok {
		c := r
		if !olm.IsCopied(c) {
			return olm.StepPresent, "", nil
		}
		from := operatorgroup.CopiedFrom(c)
		original := olm.Key{Group: olm.Group, Kind: olm.KindClusterServiceVersion, Namespace: from, Name: c.Metadata.Name}
		if r := world.Pick(e.CSVs, original); r != nil && !r.Head().Metadata.IsDeleted() {
			return s.Status, fmt.Sprintf("%s is in the way: it is a copy of the operator in namespace %s, which already serves this namespace; delete the subscription, or remove this namespace from the targets of that operator's group", c.Key(), from), nil
		}
		return s.Status, fmt.Sprintf("%s is in the way: it is a copy of an operator in namespace %s that no longer exists; delete it unless it is already being removed", c.Key(), from), nil
	}
	event := &change.Event{Reason: "Installing", Message: s.Resolving}
	c, err := olm.As[olm.ClusterServiceVersion](o)
	if err != nil {
		return s.Status, err.Error(), nil
	}
	out, _ := operatorgroup.Annotate(c, e.Groups()[0]) // the plan is only executed if there is one group
	out.Metadata.Finalizers = append(slices.Clip(out.Metadata.Finalizers), world.Finalizer)
	return olm.StepCreated, "", e.Emit(change.Create, out, e.plan.Key(), event, "", "step of the install plan for %s", s.Resolving)
}

// ownedStep plans an object that its CSV owns. Outside of namespaces, labels name the CSV
// (E30).
func (e *execution) ownedStep(s *olm.Step, o olm.Object) (olm.StepStatus, string, error) {
	owner := e.CSV(s.Resolving)
	if owner == nil {
		return s.Status, "", nil // the CSV must exist before its objects
	}
	if o.Metadata.Namespace == owner.Metadata.Namespace {
		o.Metadata.OwnerReferences = generated.UnionOwners(o.Metadata.OwnerReferences, []olm.OwnerReference{olm.OwnedBy(owner)})
		for i, r := range o.Metadata.OwnerReferences {
			if r.Kind == owner.Kind && r.Name == owner.Metadata.Name {
				o.Metadata.OwnerReferences[i].UID = owner.Metadata.UID
			}
		}
	} else {
		o.Metadata.SetLabel(ownerlabel.Name, owner.Metadata.Name)
		if o.Key().Group != olm.GroupRBAC { // those with a namespace are deleted with the CSV
			o.Metadata.SetLabel(ownerlabel.Kind, owner.Kind)
			o.Metadata.SetLabel(ownerlabel.Namespace, owner.Metadata.Namespace)
		}
	}
	exists, err := e.Find(o.Key())
	if err != nil {
		return s.Status, "", err
	}
	ok, err := e.keeper.Ensure(&o, e.plan.Key(), nil, "", "step of the install plan for %s", s.Resolving)
	switch {
	case err != nil:
		return s.Status, "", err
	case ok || exists != nil:
		return olm.StepPresent, "", nil
	}
	return olm.StepCreated, "", nil
}
