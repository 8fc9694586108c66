package reconcile

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// NotUpgradeable returns why the operator that a condition belongs to must not
// be replaced now, or nothing:
//
//   - spec.overrides, set by an administrator, decides;
//   - otherwise False in spec.conditions, set by the operator, or in
//     status.conditions, copied by OLM, prevents it;
//   - so does a status of an older generation: it has not been updated yet.
//
// Without a condition, as without the resource (nil), the operator may be
// replaced. It never holds up the upgrade of the cluster.
func NotUpgradeable(c *olm.OperatorCondition) string { // E6
	if c == nil {
		return ""
	}
	if o, ok := olm.FindCondition(c.Spec.Overrides, olm.Upgradeable); ok {
		if o.Status == olm.ConditionTrue {
			return ""
		}
		return "overridden by an administrator: " + saying(o)
	}
	if s, ok := olm.FindCondition(c.Spec.Conditions, olm.Upgradeable); ok && s.Status == olm.ConditionFalse {
		return saying(s)
	}
	s, ok := olm.FindCondition(c.Status.Conditions, olm.Upgradeable)
	switch {
	case !ok:
		return ""
	case s.ObservedGeneration != c.Metadata.Generation:
		return fmt.Sprintf("its condition %s is of generation %d and the resource of %d", olm.Upgradeable, s.ObservedGeneration, c.Metadata.Generation)
	case s.Status == olm.ConditionFalse:
		return saying(s)
	}
	return ""
}

func saying(c olm.Condition) string {
	switch {
	case c.Message != "" && c.Reason != "":
		return c.Reason + ": " + c.Message
	case c.Message != "":
		return c.Message
	case c.Reason != "":
		return c.Reason
	}
	return c.Type + "=" + c.Status
}

// condition returns the OperatorCondition of a CSV, or nil.
func (p *planner) condition(csv string) *olm.OperatorCondition {
	for _, c := range p.OperatorConditions {
		if c.Metadata.Name == csv {
			return c
		}
	}
	return nil
}

// operatorConditions creates the OperatorCondition of each operator and copies what
// operators report in its spec to its status.
func (p *planner) operatorConditions(context.Context) error {
	for _, c := range p.own() {
		if c.Metadata.IsDeleted() || c.Status.Phase == olm.PhaseNone || p.condition(c.Metadata.Name) != nil || !p.known(kindOperatorCondition, c.Metadata.Name) {
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
		done := p.restOn(as(c))
		err := p.emit(Create, oc, c.Key(), nil, "lets the operator report whether it is upgradeable (E6)")
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
			changed = p.setCondition(&out.Status.Conditions, c) || changed
		}
		if changed {
			if err := p.emit(UpdateStatus, &out, oc.Key(), nil, "records the operator's conditions of generation %d (E6)", oc.Metadata.Generation); err != nil {
				return err
			}
		}
	}
	return nil
}
