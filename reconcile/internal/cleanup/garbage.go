package cleanup

import (
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// garbage deletes objects that were created for CSVs and groups of the namespace that are
// gone or no longer serve a namespace. Objects in the owner's namespace are deleted with
// their owner. Those elsewhere cannot have owner references, only labels.
func (p *planner) garbage() error {
	if err := p.oldPlans(); err != nil {
		return err
	}
	if err := p.servingGarbage(); err != nil {
		return err
	}
	wanted := map[olm.Key]bool{}
	gs := p.Groups()
	undecided := len(gs) != 1 || gs[0].Status.Namespaces == nil // then keep what exists
	for _, c := range p.Own() {
		if c.Metadata.IsDeleted() {
			continue
		}
		rbac, err := operatorgroup.Permissions(c)
		if err != nil {
			return err
		}
		keep(wanted, rbac)
		bindings, err := serving.Bindings(c)
		if err != nil {
			return err
		}
		keep(wanted, operatorgroup.RBAC{RoleBindings: bindings})
		for _, g := range gs {
			if operatorgroup.IsGroupFailure(c.Status) {
				continue
			}
			rbac, err := operatorgroup.TargetRBAC(c, g.Status.Namespaces)
			if err != nil {
				return err
			}
			keep(wanted, rbac)
			for _, r := range operatorgroup.APIRoles(g, c, p.Naming) {
				wanted[r.Key()] = true
			}
		}
	}
	for _, g := range gs {
		apis := operatorgroup.Annotated(g).Union(operatorgroup.Provided(g, p.CSVs))
		for _, r := range operatorgroup.GroupRoles(g, apis, p.Naming) {
			wanted[r.Key()] = true
		}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		l := o.Metadata.Labels
		if k := o.Key(); k.Group != olm.GroupRBAC || wanted[k] || o.Metadata.IsDeleted() ||
			l[ownerlabel.Namespace] != p.Namespace {
			continue
		}
		owner := olm.Key{Group: olm.Group, Kind: l[ownerlabel.Kind], Namespace: p.Namespace, Name: l[ownerlabel.Name]}
		if generated.IsOfCopy(o) || p.goesWithCopy(o) {
			continue
		}
		inUse, leaving := p.InUse(owner), p.isLeaving(owner)
		if l[ownerlabel.Managed] != "true" && !leaving {
			continue // older versions of OLM set no such label
		}
		if inUse && (undecided && !leaving || o.Metadata.Namespace == p.Namespace) {
			continue // a step of an install plan, or generated from earlier contents of the CSV
		}
		if p.Coming(owner) || (!inUse || leaving) && p.Claimed(o, "") {
			continue // its next owner will soon exist, in this namespace or another
		}
		if (!inUse || leaving) && owner.Kind == olm.KindClusterServiceVersion && p.isForCRD(o) {
			continue // its users still have custom resources
		}
		why := "is gone"
		switch {
		case leaving:
			why = "is being deleted"
		case inUse:
			why = "no longer needs it"
		}
		done := p.RestOn(p.OwnerVersion(owner))
		err := p.Emit(change.Delete, o, owner, nil, "", "made for %s, which %s", owner, why)
		if done(); err != nil {
			return err
		}
	}
	return p.finalize()
}

// goesWithCopy reports whether the plan deletes the copied CSV that owns an object.
func (p *planner) goesWithCopy(o *olm.Object) bool {
	return o.Metadata.Namespace != p.Namespace && slices.ContainsFunc(o.Metadata.OwnerReferences, func(r olm.OwnerReference) bool {
		return p.Touches(olm.Key{Group: olm.Group, Kind: r.Kind, Namespace: o.Metadata.Namespace, Name: r.Name})
	})
}

// isForCRD reports whether an object is a role for the users of an API (F7) whose CRD
// exists.
func (p *planner) isForCRD(o *olm.Object) bool {
	if k := o.Key(); k.Kind != "ClusterRole" || !operatorgroup.IsForUsers(o.Metadata.Labels) {
		return false
	}
	r, err := olm.As[olm.Role](*o)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(r.Rules, func(rule olm.PolicyRule) bool {
		for _, resource := range rule.Resources {
			for _, group := range rule.APIGroups {
				if p.CRD(resource+"."+group) != nil {
					return true
				}
			}
		}
		return slices.ContainsFunc(rule.ResourceNames, func(name string) bool { return p.CRD(name) != nil })
	})
}

// maxPlans is the number of install plans to keep in a namespace, as in the running OLM
// (maxInstallPlanCount in its catalog operator).
const maxPlans = 5

// oldPlans deletes the oldest install plans of the namespace, if resolutions made them and
// they are done or superseded. It keeps plans that a subscription or a CSV refers to, because
// they record how the operator was installed.
func (p *planner) oldPlans() error {
	over := len(p.InstallPlans) - maxPlans
	for _, ip := range p.InstallPlans { // by generation
		if over <= 0 {
			break
		}
		over--
		if done := world.IsFinished(ip) || !p.IsWanted(ip); !done || !world.IsGenerated(ip) || ip.Metadata.IsDeleted() || p.IsReferred(ip) || p.isNamed(ip) {
			continue
		}
		if err := p.Emit(change.Delete, ip, ip.Key(), nil, "", "the namespace has more than %d install plans, and nothing refers to this one", maxPlans); err != nil {
			return err
		}
	}
	return nil
}

// isNamed reports whether a CSV or a subscription refers to a plan.
func (p *planner) isNamed(ip *olm.InstallPlan) bool {
	for _, c := range p.Own() {
		if world.IsPlanned(c) && world.Brings(ip, c.Metadata.Name) {
			return true
		}
	}
	for _, s := range p.Subscriptions {
		if s.Metadata.Annotations[world.AnnotationGeneratedBy] == ip.Metadata.Name && s.Status.InstallPlanRef == nil {
			return true
		}
	}
	return false
}

func keep(wanted map[olm.Key]bool, rbac operatorgroup.RBAC) {
	for _, r := range append(rbac.Roles, rbac.ClusterRoles...) {
		wanted[r.Key()] = true
	}
	for _, b := range append(rbac.RoleBindings, rbac.ClusterRoleBindings...) {
		wanted[b.Key()] = true
	}
}
