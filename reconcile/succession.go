package reconcile

import (
	"fmt"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/olm"
)

// replacement returns the CSV that replaces another one, or nil. Of several it is
// the one that has priority.
func (p *planner) replacement(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	if s := p.successors(c.Metadata.Name); len(s) > 0 {
		return s[0]
	}
	return nil
}

// replaced returns the CSV that another one replaces, if it still exists and
// does not, by way of others, replace that one.
func (p *planner) replaced(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	return p.lineage.replaced(c)
}

// successors returns the CSVs of the namespace whose spec.replaces names a CSV,
// which need not exist any longer. Only the first gets its turn: the one that is
// furthest, then one that a subscription wants, then the newest.
func (p *planner) successors(name string) []*olm.ClusterServiceVersion { return p.lineage.next[name] }

// progress orders CSVs by how far their installation is.
func progress(c *olm.ClusterServiceVersion) int {
	if c.Metadata.IsDeleted() {
		return -2
	}
	switch c.Status.Phase {
	case olm.PhaseFailed:
		return -1
	case olm.PhaseInstallReady:
		return 1
	case olm.PhaseInstalling:
		return 2
	case olm.PhaseSucceeded, olm.PhaseReplacing, olm.PhaseDeleting:
		return 3
	}
	return 0
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// versionOf returns the version of a CSV; 0.0.0 if it has none (H2).
func versionOf(c *olm.ClusterServiceVersion) semver.Version {
	v, err := semver.ParseTolerant(c.Spec.Version)
	if err != nil {
		return semver.Version{}
	}
	return v
}

// rival returns the CSV that replaces the same one as c and goes before it, or
// nil. Once that one is gone, only another version of the same package is one:
// names of different packages may be equal by chance.
func (p *planner) rival(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	for _, o := range p.successors(c.Spec.Replaces) {
		if o.Metadata.Name == c.Metadata.Name {
			return nil
		}
		if p.csv(c.Spec.Replaces) != nil || operatorName(o) == operatorName(c) {
			return o
		}
	}
	return nil
}

// circle returns the names of the CSVs that replace each other in a circle with
// c, beginning with it, or nil. One that says it replaces itself does not
// replace anything.
func (p *planner) circle(c *olm.ClusterServiceVersion) []string { return p.lineage.circle(c) }

// circleText describes what is wrong with a circle, and what to do.
func circleText(names []string) string {
	return fmt.Sprintf("%s replace each other in a cycle, so none is the newest; delete one of them, or fix its spec.replaces",
		strings.Join(names, ", "))
}

// rivalText describes why a CSV has to wait for another one.
func rivalText(c, first *olm.ClusterServiceVersion) string {
	return fmt.Sprintf("%s also replaces %s and has priority; delete one of the two", first.Metadata.Name, c.Spec.Replaces)
}
