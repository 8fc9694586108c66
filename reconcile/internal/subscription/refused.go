package subscription

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// notSatisfiable begins the messages about constraints, as in OLM. Programs that read them
// look for "subscription NAME" after that (E32).
const notSatisfiable = "constraints not satisfiable: "

// refusedCondition returns the condition of subscriptions that cannot be resolved.
func refusedCondition(err error) olm.Condition {
	c := olm.Condition{Type: world.ResolutionFailed, Status: olm.ConditionTrue, Reason: ReasonErrorPreventedResolution, Message: err.Error()}
	var no *resolver.Conflict
	if !errors.As(err, &no) {
		return c
	}
	c.Reason, c.Message = ReasonConstraintsNotSatisfiable, notSatisfiable+c.Message
	_, refused := no.Subscriptions()
	for _, name := range refused {
		if text := "subscription " + name; !slices.ContainsFunc([]string{" ", ",", ":"}, func(end string) bool { return strings.Contains(c.Message, text+end) }) {
			c.Message += ", " + text
		}
	}
	return c
}

// stuckCondition returns the condition of a subscription whose upgrade needs help from a
// user, or nil. The new version has failed or its requirements are not met, and the old one
// still exists (E32). An upgrade that is still changing is not stuck.
func (p *planner) stuckCondition(s *olm.Subscription) *olm.Condition {
	c := p.CSV(s.Status.InstalledCSV)
	if c == nil || p.Replaced(c) == nil || p.Replacement(c) != nil || p.Touches(c.Key()) || p.FailForward() {
		return nil
	}
	if plan := p.PlanOf(s); plan != nil && !world.IsFinished(plan) {
		return nil
	}
	if c.Status.Phase != olm.PhaseFailed && (c.Status.Phase != olm.PhasePending || c.Status.Reason != reason.RequirementsNotMet) {
		return nil
	}
	return &olm.Condition{
		Type: world.ResolutionFailed, Status: olm.ConditionTrue, Reason: ReasonConstraintsNotSatisfiable,
		Message: fmt.Sprintf("%ssubscription %s cannot be upgraded further: %s", notSatisfiable, s.Metadata.Name, p.held(s)),
	}
}
