package component

import (
	"maps"
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// labelChanges adds the labels to objects that the plan creates or updates, so that they
// need no separate write.
func (p *planner) labelChanges() {
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Op != change.Create && c.Op != change.Update {
			continue
		}
		k, m := c.Object.Key(), &c.Object.Metadata
		if k.Kind == olm.KindCRD && c.Op == change.Create && c.For.Kind == olm.KindInstallPlan {
			p.markCRD(k, p.InstallPlan(c.For.Name))
		}
		for _, name := range p.of(&c.Object.Header) {
			m.SetLabel(olm.LabelComponent+name, "")
		}
	}
}

// markCRD marks the CRD k, which ip creates, with the Operators of the CSVs in ip that own it.
// Those CSVs do not exist yet.
func (p *planner) markCRD(k olm.Key, ip *olm.InstallPlan) {
	if ip == nil {
		return
	}
	for _, s := range ip.Status.Plan {
		var c olm.ClusterServiceVersion
		if !world.IsCSV(s.Resource) || c.UnmarshalJSON([]byte(s.Resource.Manifest)) != nil {
			continue
		}
		if slices.ContainsFunc(c.Spec.CRDs.Owned, func(d olm.CRDDescription) bool { return d.Name == k.Name }) {
			p.add(k, p.marks[olm.Key{Group: olm.Group, Kind: olm.KindClusterServiceVersion, Namespace: p.Namespace, Name: s.Resource.Name}]...)
		}
	}
}

// labelObjects plans the labels of objects that lack them. Labels are only added, except
// those of install plans: only the latest install plan of a subscription has its label.
func (p *planner) labelObjects() error {
	var all []olm.Resource
	for _, s := range p.Subscriptions {
		all = append(all, s)
	}
	for _, ip := range p.InstallPlans {
		all = append(all, ip)
	}
	for _, c := range p.Own() {
		all = append(all, c)
		for _, d := range c.Spec.CRDs.Owned {
			if crd := p.CRD(d.Name); crd != nil {
				all = append(all, crd)
			}
		}
	}
	for _, d := range p.Deployments {
		all = append(all, d)
	}
	for _, oc := range p.OperatorConditions {
		all = append(all, oc)
	}
	for i := range p.Objects {
		all = append(all, &p.Objects[i])
	}
	for _, r := range all {
		if err := p.label(r); err != nil {
			return err
		}
	}
	return nil
}

// label plans the labels of an object. The change is for the object itself, so that it is
// not made as the service account of the operator group, which may lack the permission.
func (p *planner) label(r olm.Resource) error {
	h := r.Head()
	names := p.of(h)
	ip, isPlan := r.(*olm.InstallPlan)
	if h.Metadata.IsDeleted() || len(names) == 0 && !isPlan { // like most objects of a cluster
		return nil
	}
	labels := maps.Clone(h.Metadata.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if isPlan {
		p.removeFormer(ip, labels)
	}
	for _, name := range names {
		if _, ok := labels[olm.LabelComponent+name]; !ok {
			labels[olm.LabelComponent+name] = ""
		}
	}
	if maps.Equal(labels, h.Metadata.Labels) {
		return nil
	}
	out, err := olm.ToObject(r)
	if err != nil {
		return err
	}
	out.Metadata.Labels = labels
	return p.Emit(change.Update, &out, h.Key(), nil, "E30", "gets the labels of its operators")
}

// removeFormer removes the labels of subscriptions that refer to a later install plan.
func (p *planner) removeFormer(ip *olm.InstallPlan, labels map[string]string) {
	for _, s := range p.Subscriptions {
		if s.Status.InstallPlanGeneration > ip.Spec.Generation {
			delete(labels, olm.LabelComponent+olm.OperatorName(s.Spec.Package, p.Namespace))
		}
	}
}
