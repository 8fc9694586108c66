package reconcile

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/resolver"
)

// Installed converts a CSV to an installed operator for a resolution, as OLM does. Its
// properties are those in the annotation that OLM writes. Without that annotation, the
// properties follow from the APIs in the spec, and the package is the one that the
// subscriptions in subs with this installed CSV name, if they name exactly one.
//
// Properties that cannot be read are left out and returned as faults. They affect only this
// operator, while OLM fails the whole namespace. An annotation that cannot be read counts as
// absent.
func Installed(csv *olm.ClusterServiceVersion, subs []*olm.Subscription) (in resolver.Installed, faults []error) { // H7, H22
	return subscription.Installed(csv, subs)
}
