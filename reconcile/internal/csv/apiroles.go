package csv

import (
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// ensureAPIRoles keeps the roles for the users of an operator's APIs (F7), once it
// runs, as the running OLM does; 000 would have them for every member of a group. It
// notes those of another namespace that the roles of the group do not aggregate.
func (p *planner) ensureAPIRoles(g *olm.OperatorGroup, c *olm.ClusterServiceVersion) error {
	var holders []string
	for _, r := range operatorgroup.APIRoles(g, c, p.Naming) {
		_, holder, err := p.EnsureShared(r, c.Key(), "grants permissions to users of its APIs (F7)")
		if err != nil {
			return err
		}
		have := p.Object(r.Key())
		if holder == (olm.Key{}) || sameAggregation(have.Metadata.Labels, r.Metadata.Labels) {
			continue
		}
		if text := holder.String(); !slices.Contains(holders, text) {
			holders = append(holders, text)
		}
	}
	if len(holders) > 0 {
		p.Note(c.Key(), "the ClusterRoles for its APIs belong to %s, so those of operator group %q do not include them; bind users to the roles of the APIs instead", phrase.Join(holders, "and"), g.Metadata.Name).Rule = "F7"
	}
	return nil
}

// sameAggregation reports whether the labels of a role have it aggregated by the same
// roles as the wanted ones, whatever its owner.
func sameAggregation(have, want map[string]string) bool {
	for k, v := range want {
		if !strings.HasPrefix(k, ownerlabel.Name) && have[k] != v {
			return false
		}
	}
	return true
}
