package rollout

import (
	"k8s.io/apimachinery/pkg/api/meta"
)

// Installed returns the latest active revision that has rolled out, or nil, and the active
// revisions that have not, by number.
func (s *Snapshot) Installed() (installed *Revision, rolling []*Revision) { // K66, K77
	for _, r := range newWorld(s).revisions {
		switch {
		case r.Archived:
		case r.Migrated, meta.IsStatusConditionTrue(r.Conditions, Succeeded):
			installed = r
		default:
			rolling = append(rolling, r)
		}
	}
	return installed, rolling
}
