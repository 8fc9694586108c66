package csv

import (
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// operatorConditions creates the OperatorCondition of each operator, lets the operator
// use it, and copies what operators report in its spec to its status.
func (p *planner) operatorConditions() error {
	for _, c := range p.Own() {
		if c.Metadata.IsDeleted() || c.Status.Phase == olm.PhaseNone {
			continue
		}
		if err := p.ensureCondition(c); err != nil {
			return err
		}
	}
	for _, oc := range p.OperatorConditions {
		out, changed := *oc, false
		for _, c := range oc.Spec.Conditions {
			c.ObservedGeneration = oc.Metadata.Generation
			if c.LastTransitionTime.IsZero() {
				if old, ok := olm.FindCondition(oc.Status.Conditions, c.Type); ok {
					c.LastTransitionTime = old.LastTransitionTime
				}
			}
			changed = p.SetCondition(&out.Status.Conditions, c) || changed
		}
		if changed {
			if err := p.Emit(change.UpdateStatus, &out, oc.Key(), nil, "E6", "records the operator's conditions of generation %d", oc.Metadata.Generation); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureCondition plans the OperatorCondition of an operator and, once that exists, the Role
// and the RoleBinding that let the operator use it. Both are deleted with the
// OperatorCondition.
func (p *planner) ensureCondition(c *olm.ClusterServiceVersion) error {
	defer p.RestOn(world.VersionOf(c))()
	accounts := accountsOf(c)
	var deployments []string
	for _, d := range c.Spec.Install.Spec.Deployments {
		deployments = append(deployments, d.Name)
	}
	have := p.Condition(c.Metadata.Name)
	if have == nil {
		if !p.IsRead(world.KindOperatorCondition, c.Metadata.Name) {
			return nil
		}
		oc := &olm.OperatorCondition{Header: olm.Header{
			APIVersion: olm.V2, Kind: olm.KindOperatorCondition,
			Metadata: olm.Metadata{
				Name: c.Metadata.Name, Namespace: p.Namespace, Labels: ownerlabel.Of(c),
				OwnerReferences: []olm.OwnerReference{controlledBy(c)},
			},
		}}
		oc.Spec.Deployments, oc.Spec.ServiceAccounts = deployments, accounts
		return p.Emit(change.Create, oc, c.Key(), nil, "E6", "lets the operator report whether it is upgradeable")
	}
	if have.Metadata.IsDeleted() {
		return nil
	}
	if !slices.Equal(have.Spec.Deployments, deployments) || !slices.Equal(have.Spec.ServiceAccounts, accounts) {
		out := *have
		out.Spec.Deployments, out.Spec.ServiceAccounts = deployments, accounts
		if err := p.Emit(change.Update, &out, c.Key(), nil, "E18", "names the deployments and service accounts of the CSV"); err != nil {
			return err
		}
	}
	role, binding := conditionRights(have, accounts)
	for _, r := range []olm.Resource{role, binding} {
		if h := r.Head(); p.Object(h.Key()) == nil && !p.IsRead(olm.GroupKind{Group: olm.GroupRBAC, Kind: h.Kind}, h.Metadata.Name) {
			continue
		}
		// For the condition, because OLM writes them with its own permissions, not with
		// those of the service account of the group.
		if _, err := p.Ensure(r, have.Key(), nil, "E18", "lets the operator use its OperatorCondition"); err != nil {
			return err
		}
	}
	return nil
}

// accountsOf returns the service accounts of an operator as OLM lists them in its
// OperatorCondition: one for each permission, with duplicates. With another list, OLM and
// olmkit would rewrite the object when one takes over from the other.
func accountsOf(c *olm.ClusterServiceVersion) (accounts []string) {
	for _, list := range [][]olm.Permissions{c.Spec.Install.Spec.ClusterPermissions, c.Spec.Install.Spec.Permissions} {
		for _, p := range list {
			if p.ServiceAccountName != "" {
				accounts = append(accounts, p.ServiceAccountName)
			}
		}
	}
	if accounts == nil {
		return []string{"default"}
	}
	return accounts
}

// conditionRights returns the Role and the RoleBinding that let service accounts use an
// OperatorCondition, as OLM makes them.
func conditionRights(oc *olm.OperatorCondition, accounts []string) (*olm.Role, *olm.RoleBinding) {
	header := func(kind string) olm.Header {
		return olm.Header{APIVersion: olm.RBACV1, Kind: kind, Metadata: olm.Metadata{
			Name: oc.Metadata.Name, Namespace: oc.Metadata.Namespace, Labels: map[string]string{ownerlabel.Managed: "true"},
			OwnerReferences: []olm.OwnerReference{controlledBy(oc)},
		}}
	}
	role := &olm.Role{Header: header("Role"), Rules: []olm.PolicyRule{{
		Verbs: []string{"get", "update", "patch"}, APIGroups: []string{olm.Group},
		Resources: []string{"operatorconditions"}, ResourceNames: []string{oc.Metadata.Name},
	}}}
	binding := &olm.RoleBinding{Header: header("RoleBinding"), RoleRef: olm.RoleRef{APIGroup: olm.GroupRBAC, Kind: role.Kind, Name: role.Metadata.Name}}
	for _, a := range accounts { // of the namespace of the binding
		binding.Subjects = append(binding.Subjects, olm.Subject{Kind: "ServiceAccount", Name: a})
	}
	return role, binding
}

// controlledBy returns a reference to the controller of an object.
func controlledBy(owner olm.Resource) olm.OwnerReference {
	r, yes := olm.OwnedBy(owner), true
	r.Controller = &yes
	return r
}
