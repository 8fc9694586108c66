package csv

import (
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// ensureAPIRoles maintains the roles for the users of an operator's APIs (F7) while the
// operator runs. This follows the running OLM; according to its documentation, every
// member of a group has these roles. It adds notes about roles that belong to another
// namespace and that the group's roles do not aggregate.
func (p *planner) ensureAPIRoles(g *olm.OperatorGroup, c *olm.ClusterServiceVersion) error {
	var holders []string
	for _, r := range operatorgroup.APIRoles(g, c, p.Naming) {
		if p.Naming == operatorgroup.Running {
			r.Metadata.OwnerReferences = p.apiOwner(c, r)
		}
		_, holder, err := p.EnsureShared(r, c.Key(), "F7", "grants permissions to users of its APIs")
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

// apiOwner returns the reference to the CRD or APIService that must be added to the owners of
// r, or nil if r already has it or there is no such object. As in OLM, the UIDs are compared.
func (p *planner) apiOwner(c *olm.ClusterServiceVersion, r *olm.Role) []olm.OwnerReference {
	var api olm.Resource
	for _, d := range c.Spec.CRDs.Owned {
		if crd := p.CRD(d.Name); crd != nil && strings.HasPrefix(r.Metadata.Name, d.Name+"-"+d.Version+"-") {
			api = crd
		}
	}
	for _, d := range c.Spec.APIServices.Owned {
		key := olm.Key{Group: world.KindAPIService.Group, Kind: world.KindAPIService.Kind, Name: d.Version + "." + d.Group}
		if o := p.Object(key); api == nil && o != nil && strings.HasPrefix(r.Metadata.Name, d.Name+"-"+d.Version+"-") {
			api = o
		}
	}
	have := p.Object(r.Key())
	if api == nil || have != nil && slices.ContainsFunc(have.Metadata.OwnerReferences, func(o olm.OwnerReference) bool { return o.UID == api.Head().Metadata.UID }) {
		return nil
	}
	return []olm.OwnerReference{olm.OwnedBy(api)}
}

// sameAggregation reports whether a role is aggregated into the same roles with its current
// labels as with the desired ones. Its owner does not matter.
func sameAggregation(have, want map[string]string) bool {
	for k, v := range want {
		if !strings.HasPrefix(k, ownerlabel.Name) && have[k] != v {
			return false
		}
	}
	return true
}
