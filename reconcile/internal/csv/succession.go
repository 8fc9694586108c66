package csv

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// rival returns the CSV that replaces the same one as c and takes precedence over c, or nil.
// Once the replaced CSV is gone, only another version of the same package is a rival: names
// in different packages may be equal by chance.
func (p *planner) rival(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	for _, o := range p.Successors(c.Spec.Replaces) {
		if o.Metadata.Name == c.Metadata.Name {
			return nil
		}
		if p.CSV(c.Spec.Replaces) != nil || world.OperatorName(o) == world.OperatorName(c) {
			return o
		}
	}
	return nil
}

// circleText describes a cycle of CSVs, and the fix.
func circleText(names []string) string {
	return fmt.Sprintf("%s replace each other in a cycle, so none is the newest; delete one of them, or fix its spec.replaces",
		strings.Join(names, ", "))
}

// rivalText describes why a CSV has to wait for another one.
func rivalText(c, first *olm.ClusterServiceVersion) string {
	return fmt.Sprintf("%s also replaces %s and has priority; delete one of the two", first.Metadata.Name, c.Spec.Replaces)
}
