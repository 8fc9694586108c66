package reconcile

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// A DeletedOperator is an operator that was deleted while its subscription stayed.
type DeletedOperator struct {
	Subscription olm.Key `json:"subscription"`
	// Deleted is the deleted bundle, and Next what is installed in its place. Next may be the same
	// bundle, or "" if nothing is.
	Deleted string `json:"deleted"`
	Next    string `json:"next,omitempty"`
	// Text states both.
	Text string `json:"text"`
}

// DeletedOperators returns the operators that were deleted while their subscriptions, which sol
// considers, stayed. Those that are not installed again are also obstacles.
func DeletedOperators(s *Snapshot, sol *resolver.Solution) (list []DeletedOperator) { // E4
	for _, g := range subscription.AllGone(s.world(), sol) {
		list = append(list, DeletedOperator{g.Subscription.Key(), g.Deleted, g.Next, g.String()})
	}
	return list
}

// Deletion states that the operator of a subscription was installed and then deleted, and what to do if
// it is not installed again. It returns "" if the operator was not deleted. current is the CSV of the
// subscription's status.currentCSV, and plan its install plan, or nil if they do not exist.
func Deletion(s *olm.Subscription, current *olm.ClusterServiceVersion, plan *olm.InstallPlan) string { // E4
	if !world.IsDeleted(s, current, plan) {
		return ""
	}
	return subscription.Gone{Subscription: s, Deleted: s.Status.CurrentCSV}.String()
}
