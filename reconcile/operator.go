package reconcile

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/resolver"
)

// Installed converts a CSV to an installed operator for a resolution, as OLM does. Its
// properties are those that OLM projected into its annotation. Without that annotation they
// are the APIs in its spec, and its package is that of the subscriptions of its namespace
// that own it, if they name one.
//
// Properties that cannot be read are left out and returned as faults. They affect
// only this operator, while OLM fails the whole namespace. An annotation that cannot
// be read counts as absent.
func Installed(csv *olm.ClusterServiceVersion, subs []*olm.Subscription) (in resolver.Installed, faults []error) { // H7, H22
	return subscription.Installed(csv, subs)
}
