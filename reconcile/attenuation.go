package reconcile

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/installplan"
)

// Attenuation returns notes on the steps of install plans that are not permitted: if the
// operator group names a service account, installation is limited to the account's
// permissions. If its roles were not read, a note reports that they were not checked.
// Finished plans have no notes. The plan of [Decide] includes these notes.
func Attenuation(s *Snapshot) []Note {
	if !slices.ContainsFunc(s.OperatorGroups, func(g *olm.OperatorGroup) bool {
		return g.Metadata.Namespace == s.Namespace && g.Spec.ServiceAccountName != ""
	}) {
		return nil
	}
	p := change.New(s.Now)
	installplan.Attenuate(s.world(), p)
	return notes(p)
}
