package reconcile

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// PlanFailure returns why a failed install plan failed, and how to try again. The reason is
// the plan's message or, if that is empty, the one in its conditions.
func PlanFailure(ip *olm.InstallPlan) string {
	return world.FailureAdvice(ip)
}
