package cleanup

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// servingGarbage deletes the webhook configurations and APIServices of
// operators that are gone or no longer serve them, and removes conversion
// webhooks that no operator serves (E15, E17).
func (p *planner) servingGarbage() error {
	for i := range p.Objects {
		o := &p.Objects[i]
		k, owner := o.Key(), generated.OwnerOf(o)
		isAPI := k.Group == world.KindAPIService.Group && k.Kind == world.KindAPIService.Kind
		if !isAPI && !serving.IsConfiguration(k) || o.Metadata.IsDeleted() || owner.Kind != olm.KindClusterServiceVersion || owner.Namespace != p.Namespace {
			continue
		}
		why := "which is gone"
		if c := p.CSV(owner.Name); c != nil && c.Metadata.IsDeleted() {
			why = "which is being deleted"
		} else if c != nil {
			if why = "which no longer serves it"; isAPI && ownsAPI(c, k.Name) || !isAPI && serving.Describes(c, o) {
				continue
			}
		} else if p.Coming(owner) {
			continue
		}
		done := p.RestOn(p.OwnerVersion(owner))
		err := p.Emit(change.Delete, o, owner, nil, "E15", "made for %s, %s", owner, why)
		if done(); err != nil {
			return err
		}
	}
	for _, crd := range p.CRDs {
		if !serving.IsUnserved(crd, p.Namespace, p.Users(p.CSVs)[crd.Metadata.Name]) {
			continue
		}
		if !p.InstancesRead(crd.Metadata.Name) || len(p.Instances(crd)) > 0 {
			p.Note(crd.Key(), "keeps its conversion webhook, although no operator serves it: without it, existing custom resources would lose data; install the operator again, or delete these custom resources").Rule = "E17"
			continue
		}
		out := *crd
		out.Spec.Conversion = &olm.CRDConversion{Strategy: "None"}
		if err := p.Emit(change.Update, &out, crd.Key(), nil, "E17", "no operator serves its conversion webhook anymore"); err != nil {
			return err
		}
	}
	return nil
}

func ownsAPI(c *olm.ClusterServiceVersion, name string) bool {
	return slices.ContainsFunc(c.Spec.APIServices.Owned, func(d olm.APIServiceDescription) bool { return d.Version+"."+d.Group == name })
}
