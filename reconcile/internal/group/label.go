package group

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
)

// labelTargets plans the group's label on its target namespaces, and its removal from other
// namespaces. It does so only if operators of the group have webhooks, which select namespaces
// by the label (E15).
func (p *planner) labelTargets(g *olm.OperatorGroup) error {
	label := serving.GroupLabel(g)
	if label == "" || !slices.ContainsFunc(p.Own(), func(c *olm.ClusterServiceVersion) bool { return len(c.Spec.Webhooks) > 0 }) {
		return nil
	}
	for _, ns := range p.Namespaces {
		_, has := ns.Metadata.Labels[label]
		want := slices.Contains(g.Status.Namespaces, ns.Metadata.Name)
		if has == want || g.Status.Namespaces == nil || ns.Metadata.IsDeleted() {
			continue
		}
		out, why := *ns, "labels a target of %s, so webhooks can select it"
		out.Metadata.SetLabel(label, "")
		if !want {
			delete(out.Metadata.Labels, label)
			why = "no longer " + why
		}
		if err := p.Emit(change.Update, &out, g.Key(), nil, "E15", why, g.Key()); err != nil {
			return err
		}
	}
	return nil
}
