package cleanup

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// FailedPlans adds notes about failed install plans (E2), unless a plan that is
// being created replaces them.
func FailedPlans(w *world.World, p *change.Writer, r subscription.Outcome) {
	for _, ip := range w.InstallPlans {
		if ip.Status.Phase != olm.PlanFailed || ip.Metadata.IsDeleted() || !w.IsWanted(ip) {
			continue
		}
		dropped := r.Created != nil && world.IsGenerated(ip)
		for _, s := range w.Subscriptions {
			if ref := s.Status.InstallPlanRef; ref != nil && ref.Name == ip.Metadata.Name {
				if dropped = r.Moved[s]; !dropped {
					break
				}
			}
		}
		if !dropped {
			n := p.Note(ip.Key(), "failed and is not retried: %s", world.FailureAdvice(ip))
			n.Code, n.StatesStatus = change.Code(resolver.HeldByInstallPlan), true
		}
	}
}
