package world

import (
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/status"
)

// Upgradeable is the type of the OperatorCondition's condition that OLM obeys.
const Upgradeable = "Upgradeable"

// NotUpgradeable returns why the operator of an OperatorCondition must not be
// replaced now, or "" (E6):
//
//   - spec.overrides, set by an administrator, decides;
//   - otherwise False in spec.conditions, set by the operator, or in
//     status.conditions, copied by OLM, prevents it;
//   - so does a status of an older generation: it has not been updated yet.
//
// Without the condition, or without the resource (nil), the operator may be
// replaced. The condition never delays the upgrade of the cluster.
func NotUpgradeable(c *olm.OperatorCondition) string {
	if c == nil {
		return ""
	}
	if o, ok := olm.FindCondition(c.Spec.Overrides, Upgradeable); ok {
		if o.Status == olm.ConditionTrue {
			return ""
		}
		return "overridden by an administrator: " + status.Condition(o)
	}
	if s, ok := olm.FindCondition(c.Spec.Conditions, Upgradeable); ok && s.Status == olm.ConditionFalse {
		return status.Condition(s)
	}
	s, ok := olm.FindCondition(c.Status.Conditions, Upgradeable)
	switch {
	case !ok:
		return ""
	case s.ObservedGeneration != c.Metadata.Generation:
		return fmt.Sprintf("its condition %s is from generation %d, but the resource has generation %d", Upgradeable, s.ObservedGeneration, c.Metadata.Generation)
	case s.Status == olm.ConditionFalse:
		return status.Condition(s)
	}
	return ""
}

// Condition returns the OperatorCondition of a CSV, or nil.
func (w *World) Condition(csv string) *olm.OperatorCondition {
	for _, c := range w.OperatorConditions {
		if c.Metadata.Name == csv {
			return c
		}
	}
	return nil
}
