package subscription

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// A Gone is an operator that was deleted while its subscription stayed (E4).
type Gone struct {
	Subscription *olm.Subscription
	Deleted      string
	// Next is what is installed in its place, which may be the same bundle, or "" if nothing is.
	Next string
}

// String returns what was deleted, and what follows.
func (g Gone) String() string {
	switch g.Next {
	case "":
		reason, remedy := g.Stays()
		return reason + "; " + remedy
	case g.Deleted:
		return g.Deleted + " was deleted; the next install plan installs it again"
	}
	return fmt.Sprintf("%s was deleted; %s is installed in its place, as a fresh installation", g.Deleted, g.Next)
}

// Stays returns why the operator is not installed again if Next is "", and what to do about it.
func (g Gone) Stays() (reason, remedy string) {
	name := g.Subscription.Metadata.Name
	return fmt.Sprintf("%s was deleted, and is not installed again because subscription %s already has it", g.Deleted, name), "recreate the subscription to install it"
}

// AllGone returns the deleted operators of the subscriptions that a solution considers. An install
// plan is created only if the solution changes the status.currentCSV of some subscription. It then
// has all selected bundles.
func AllGone(w *world.World, sol *resolver.Solution) (list []Gone) {
	if !slices.ContainsFunc(w.Subscriptions, w.IsDeleted) {
		return nil // as nearly always
	}
	changes := slices.ContainsFunc(sol.Selected, func(s resolver.Selected) bool { return !covered(w, s) })
	for _, s := range sol.Selected {
		for _, sub := range w.Subscribers(s) {
			if !w.IsDeleted(sub) {
				continue
			}
			g := Gone{Subscription: sub, Deleted: sub.Status.CurrentCSV}
			if changes {
				g.Next = s.Name
			}
			list = append(list, g)
		}
	}
	return list
}
