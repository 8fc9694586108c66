package subscription

import (
	"context"
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

// The largest messages that the API server accepts, in bytes.
const (
	maxCondition = 32768
	maxEvent     = 1024
)

// refuse returns why subscriptions cannot be resolved. The error is the context's.
func refuse(ctx context.Context, err error) (r refusal, failed error) {
	r.condition = olm.Condition{Type: world.ResolutionFailed, Status: olm.ConditionTrue, Reason: ReasonErrorPreventedResolution, Message: err.Error()}
	r.event = r.condition.Message
	var no *resolver.Conflict
	if !errors.As(err, &no) {
		return r, nil
	}
	report, failed := no.Report(ctx)
	if failed != nil {
		return r, failed
	}
	_, names := no.Subscriptions()
	r.condition.Reason = ReasonConstraintsNotSatisfiable
	r.condition.Message = notSatisfied(report, names, maxCondition)
	r.event = notSatisfied(report, names, maxEvent)
	return r, nil
}

// notSatisfied returns a message of at most limit bytes, which names each subscription that
// it concerns. Names that the report lacks take up to half of the limit.
func notSatisfied(r *resolver.Report, names []string, limit int) string {
	text := r.Short(limit / 2)
	missing := ""
	for _, name := range names {
		sub := "subscription " + name
		if !slices.ContainsFunc([]string{" ", ",", ":"}, func(end string) bool { return strings.Contains(text, sub+end) }) &&
			len(notSatisfiable)+len(missing)+len(sub) < limit/2 {
			missing += sub + ", "
		}
	}
	begin := notSatisfiable + missing
	return begin + r.Short(limit-len(begin))
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
		Message: fmt.Sprintf("%ssubscription %s cannot be upgraded further: %s", notSatisfiable, s.Metadata.Name, unready(p.World, c)),
	}
}
