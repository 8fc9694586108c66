package subscription

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// install plans the install plan for the selected bundles, and the subscriptions'
// references to it (E2), in three passes: the plan is created without steps, the
// subscriptions are changed to refer to it, and then it gets its steps. It can be executed
// only after that, so an operator never appears before its subscription refers to it. After
// a crash in between, the next loop continues, because the name of the plan is derived from
// its content.
func (p *planner) install(ctx context.Context, selected []resolver.Selected, next []*olm.Subscription) error {
	if !slices.ContainsFunc(selected, func(s resolver.Selected) bool { return !covered(p.World, s) }) {
		for _, s := range next {
			change.ClearCondition(&s.Status.Conditions, world.BundleUnpackFailed)
		}
		return p.abandon(nil)
	}
	steps, err := p.All(ctx, selected)
	if err != nil {
		return p.unpackFailed(err, next)
	}
	for _, s := range next {
		change.ClearCondition(&s.Status.Conditions, world.BundleUnpackFailed)
	}
	for _, s := range selected {
		for _, sub := range p.Subscribers(s) {
			p.Moved[sub] = true
		}
	}
	p.Attenuate(olm.Key{Kind: "Namespace", Name: p.Namespace}, steps)
	content, err := json.Marshal(steps, json.Deterministic(true))
	if err != nil {
		return err
	}
	var plan *olm.InstallPlan
	for _, ip := range p.InstallPlans {
		if !world.IsFinished(ip) && (ip.Metadata.Name == planName(content, ip.Spec.Generation) || p.isOLMs(ip, csvNames(steps))) {
			plan = ip
		}
	}
	if err := p.abandon(plan); err != nil {
		return err
	}
	if plan == nil {
		return p.createPlan(content, steps, selected)
	}
	if p.refer(plan, selected, next) || plan.Status.Phase != "" {
		return nil
	}
	out := *plan
	lookups, err := p.Lookups(selected)
	if err != nil {
		return err
	}
	fitting, err := p.Fit(selected, steps, lookups)
	if err != nil {
		out.Status.Phase, out.Status.Message = olm.PlanFailed, visible.Lines(err.Error())
		p.SetCondition(&out.Status.Conditions, olm.Condition{Type: world.ConditionInstalled, Status: olm.ConditionFalse, Reason: world.ReasonComponentFailed, Message: err.Error()})
		return p.Emit(change.UpdateStatus, &out, plan.Key(), nil, "", "%s", err)
	}
	out.Status.Phase, out.Status.Plan, out.Status.BundleLookups = olm.PlanInstalling, fitting, lookups
	if !plan.Spec.Approved {
		out.Status.Phase = olm.PlanRequiresApproval
	}
	for _, s := range steps {
		if !slices.Contains(out.Status.CatalogSources, s.Resource.SourceName) {
			out.Status.CatalogSources = append(out.Status.CatalogSources, s.Resource.SourceName)
		}
	}
	return p.Emit(change.UpdateStatus, &out, plan.Key(), nil, "", "%s, %s", phrase.Count(len(steps), "step"), out.Status.Phase)
}

// isOLMs reports whether OLM made an install plan for the named CSVs, and was stopped before
// the subscriptions referred to it, or before it had its steps. It is the latest plan then.
func (p *planner) isOLMs(ip *olm.InstallPlan, names []string) bool {
	if world.IsGenerated(ip) || ip.Spec.Generation == 0 || !slices.Equal(slices.Sorted(slices.Values(ip.Spec.ClusterServiceVersionNames)), slices.Sorted(slices.Values(names))) {
		return false
	}
	return !slices.ContainsFunc(p.Subscriptions, func(s *olm.Subscription) bool { return s.Status.InstallPlanGeneration > ip.Spec.Generation }) &&
		!slices.ContainsFunc(p.InstallPlans, func(o *olm.InstallPlan) bool { return o.Spec.Generation > ip.Spec.Generation })
}

// csvNames returns the names of the CSVs that steps create.
func csvNames(steps []olm.Step) (names []string) {
	for _, s := range steps {
		if world.IsCSV(s.Resource) {
			names = append(names, s.Resource.Name)
		}
	}
	return names
}

// abandon deletes the generated plans without steps, except the plan in but. Such a plan is
// left over if the catalogs changed, or another loop was faster, before it got its steps.
func (p *planner) abandon(but *olm.InstallPlan) error {
	for _, ip := range p.InstallPlans {
		if ip == but || ip.Status.Phase != "" || len(ip.Status.Plan) > 0 || !world.IsGenerated(ip) || but == nil && p.IsReferred(ip) {
			continue
		}
		if err := p.Emit(change.Delete, ip, ip.Key(), nil, "", "the resolution changed before it had steps"); err != nil {
			return err
		}
	}
	return nil
}

// covered reports whether a selected bundle is already being installed. If the bundle has
// subscriptions, all of them must have chosen it and refer to a plan with steps, or their operator was
// deleted, which OLM does not install again. Otherwise an unfinished plan must list it.
func covered(w *world.World, s resolver.Selected) bool {
	subs := w.Subscribers(s)
	if len(subs) == 0 {
		return slices.ContainsFunc(w.InstallPlans, func(ip *olm.InstallPlan) bool {
			return ip.Status.Phase != "" && ip.Status.Phase != olm.PlanComplete && slices.Contains(ip.Spec.ClusterServiceVersionNames, s.Name)
		})
	}
	for _, sub := range subs {
		if sub.Status.CurrentCSV != s.Name {
			return false
		}
		if w.IsDeleted(sub) {
			continue
		}
		if plan := w.PlanOf(sub); plan == nil || plan.Status.Phase == "" {
			return false
		}
	}
	return true
}

// absent returns the selected bundles that are not installed yet. A bundle that can replace
// itself (H2) may be selected although its subscriptions already have it.
func (p *planner) absent(selected []resolver.Selected) []resolver.Selected {
	return slices.DeleteFunc(slices.Clone(selected), func(s resolver.Selected) bool {
		subs := p.Subscribers(s)
		return len(subs) > 0 && p.CSV(s.Name) != nil && !slices.ContainsFunc(subs, func(sub *olm.Subscription) bool { return sub.Status.CurrentCSV != s.Name })
	})
}

// planName derives the name of a plan from its generation and content, so that the same
// resolution of the same state creates the same plan.
func planName(content []byte, generation int) string {
	h := sha256.New()
	h.Write(content)
	h.Write([]byte{byte(generation), byte(generation >> 8), byte(generation >> 16), byte(generation >> 24)})
	return "install-" + hex.EncodeToString(h.Sum(nil))[:10]
}

func (p *planner) createPlan(content []byte, steps []olm.Step, selected []resolver.Selected) error {
	generation := 0
	for _, ip := range p.InstallPlans {
		generation = max(generation, ip.Spec.Generation)
	}
	approval := olm.Automatic
	rule, why := "", ""
	var owners []olm.OwnerReference
	for _, s := range p.Subscriptions {
		generation = max(generation, s.Status.InstallPlanGeneration)
		if s.Spec.InstallPlanApproval == olm.Manual && approval == olm.Automatic {
			approval = olm.Manual
			rule, why = "E9", "; subscription "+s.Metadata.Name+" requires manual approval, which applies to the whole namespace"
		}
		owners = append(owners, olm.OwnedBy(s))
	}
	generation++
	names := csvNames(steps)
	labels := map[string]string{world.LabelGenerated: "true"}
	for _, s := range selected {
		labels[olm.LabelComponent+olm.OperatorName(s.Package, p.Namespace)] = "" // E30
	}
	ip := &olm.InstallPlan{
		Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindInstallPlan, Metadata: olm.Metadata{
			Name: planName(content, generation), Namespace: p.Namespace, OwnerReferences: owners,
			Labels: labels,
		}},
		Spec: olm.InstallPlanSpec{
			ClusterServiceVersionNames: names, Approval: approval, Approved: approval == olm.Automatic, Generation: generation,
		},
	}
	p.Created = ip
	defer p.RestOn(p.resolved()...)()
	return p.Emit(change.Create, ip, ip.Key(), &change.Event{Reason: "InstallPlanCreated", Message: "installs " + phrase.Join(names, "and")}, rule, "installs %s%s", phrase.Join(names, "and"), why)
}

// resolved returns the versions of the objects that a resolution depends on: the
// subscriptions, the CSVs of the namespace, and the install plans and CSVs that the
// subscriptions refer to, even if they do not exist. The caches of a cluster may differ in
// age, and with outdated objects an older version might be chosen again.
func (p *planner) resolved() []world.Version {
	var list []world.Version
	for _, c := range p.Own() {
		list = append(list, world.VersionOf(c))
	}
	known := make(map[world.Version]bool, len(list))
	for _, v := range list {
		known[v] = true
	}
	add := func(v world.Version) {
		if v.Key.Name != "" && !known[v] {
			known[v] = true
			list = append(list, v)
		}
	}
	key := olm.Key{Group: olm.Group, Namespace: p.Namespace}
	for _, s := range p.Subscriptions {
		add(world.VersionOf(s))
		key.Kind = olm.KindClusterServiceVersion
		for _, name := range []string{s.Status.InstalledCSV, s.Status.CurrentCSV} {
			key.Name = name
			add(p.OwnerVersion(key))
		}
		if ref := s.Status.InstallPlanRef; ref != nil {
			key.Kind, key.Name = olm.KindInstallPlan, ref.Name
			if plan := p.PlanOf(s); plan != nil {
				add(world.VersionOf(plan))
			} else {
				add(world.Version{Key: key})
			}
		}
	}
	return list
}

// refer makes the subscriptions of what was selected refer to the plan, and
// reports whether that changed any.
func (p *planner) refer(plan *olm.InstallPlan, selected []resolver.Selected, next []*olm.Subscription) bool {
	changed := false
	for _, sel := range selected {
		for _, sub := range p.Subscribers(sel) {
			i := p.Place[sub]
			st := &next[i].Status
			if ref := st.InstallPlanRef; st.CurrentCSV == sel.Name && ref != nil && ref.Name == plan.Metadata.Name && ref.UID == plan.Metadata.UID {
				continue
			}
			st.CurrentCSV, st.State = sel.Name, olm.StateUpgradePending
			setPlanRef(st, plan)
			p.planConditions(next[i])
			changed = true
		}
	}
	return changed
}

// unpackFailed sets the conditions of the subscriptions if a chosen bundle has no usable
// manifests. Nothing is installed, because a namespace is resolved as a whole (E9).
func (p *planner) unpackFailed(err error, next []*olm.Subscription) error {
	if !errors.As(err, &p.Unusable) {
		return err
	}
	for _, s := range next {
		p.SetCondition(&s.Status.Conditions, olm.Condition{
			Type: world.BundleUnpackFailed, Status: olm.ConditionTrue, Reason: ReasonBundleUnpackFailed, Message: err.Error(),
		})
	}
	return nil
}
