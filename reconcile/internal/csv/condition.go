package csv

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// operatorConditions creates the OperatorCondition of each operator and copies what
// operators report in its spec to its status.
func (p *planner) operatorConditions() error {
	for _, c := range p.Own() {
		if c.Metadata.IsDeleted() || c.Status.Phase == olm.PhaseNone || p.Condition(c.Metadata.Name) != nil || !p.IsRead(world.KindOperatorCondition, c.Metadata.Name) {
			continue
		}
		oc := &olm.OperatorCondition{Header: olm.Header{
			APIVersion: olm.V2, Kind: olm.KindOperatorCondition,
			Metadata: olm.Metadata{
				Name: c.Metadata.Name, Namespace: p.Namespace, Labels: operatorgroup.OwnerLabels(c),
				OwnerReferences: []olm.OwnerReference{olm.OwnedBy(c)},
			},
		}}
		for _, d := range c.Spec.Install.Spec.Deployments {
			oc.Spec.Deployments = append(oc.Spec.Deployments, d.Name)
		}
		if rbac, err := operatorgroup.Permissions(c); err == nil {
			oc.Spec.ServiceAccounts = rbac.ServiceAccounts
		}
		done := p.RestOn(world.VersionOf(c))
		err := p.Emit(change.Create, oc, c.Key(), nil, "lets the operator report whether it is upgradeable (E6)")
		done()
		if err != nil {
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
			if err := p.Emit(change.UpdateStatus, &out, oc.Key(), nil, "records the operator's conditions of generation %d (E6)", oc.Metadata.Generation); err != nil {
				return err
			}
		}
	}
	return nil
}
