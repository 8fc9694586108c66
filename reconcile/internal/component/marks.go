package component

import (
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// marks holds, for each object, the names of the Operators of which it is a component.
type marks map[olm.Key][]string

func (m marks) add(k olm.Key, names ...string) {
	for _, name := range names {
		if k.Name != "" && !slices.Contains(m[k], name) {
			m[k] = append(m[k], name)
		}
	}
}

// newMarks returns the marks of subscriptions, of the objects that they refer to, and of
// the CRDs that their CSVs own.
func newMarks(w *world.World) marks {
	m := marks{}
	key := func(kind, name string) olm.Key {
		return olm.Key{Group: olm.Group, Kind: kind, Namespace: w.Namespace, Name: name}
	}
	for _, s := range w.Subscriptions {
		if s.Spec.Package == "" {
			continue
		}
		name := olm.OperatorName(s.Spec.Package, w.Namespace)
		m.add(s.Key(), name)
		m.add(key(olm.KindClusterServiceVersion, s.Status.InstalledCSV), name)
		m.add(key(olm.KindClusterServiceVersion, s.Status.CurrentCSV), name)
		if ref := s.Status.InstallPlanRef; ref != nil {
			m.add(key(olm.KindInstallPlan, ref.Name), name)
		}
	}
	for _, ip := range w.InstallPlans {
		if world.IsFinished(ip) {
			continue
		}
		for _, s := range ip.Status.Plan { // for dependencies that have no subscription yet
			var sub olm.Subscription
			if world.IsSubscription(s.Resource) && sub.UnmarshalJSON([]byte(s.Resource.Manifest)) == nil && sub.Spec.Package != "" {
				name := olm.OperatorName(sub.Spec.Package, w.Namespace)
				m.add(key(olm.KindSubscription, s.Resource.Name), name)
				m.add(key(olm.KindClusterServiceVersion, s.Resolving), name)
			}
		}
	}
	for _, c := range w.Own() {
		m.add(c.Key(), names(&c.Metadata)...)
		for _, d := range c.Spec.CRDs.Owned {
			m.add(crdKey(d.Name), m[c.Key()]...)
		}
	}
	return m
}

func crdKey(name string) olm.Key {
	return olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: name}
}

// names returns the names of the Operators in the component labels of an object, in order.
func names(m *olm.Metadata) []string {
	var list []string
	for l := range m.Labels {
		if name, ok := strings.CutPrefix(l, olm.LabelComponent); ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// kinds lists the kinds of objects that are components because of their owner. As in OLM,
// webhook configurations are not among them.
var kinds = []olm.GroupKind{
	world.KindDeployment, world.KindService, world.KindAPIService, world.KindOperatorCondition,
	world.KindSecret, {Kind: "ConfigMap"}, world.KindServiceAccount,
	world.KindRole, world.KindRoleBinding, world.KindClusterRole, world.KindClusterRoleBinding,
}

// of returns the Operators of which an object is a component: those that it is marked
// with, and those of the CSVs that its owner references or labels name.
func (p *planner) of(h *olm.Header) []string {
	k := h.Key()
	list := p.marks[k]
	if !slices.Contains(kinds, olm.GroupKind{Group: k.Group, Kind: k.Kind}) || operatorgroup.IsForUsers(h.Metadata.Labels) {
		return list // in OLM, the roles for users belong to the CRD
	}
	list = slices.Clip(list)
	for _, r := range h.Metadata.OwnerReferences {
		if c := p.CSV(r.Name); r.Kind == olm.KindClusterServiceVersion && k.Namespace == p.Namespace && c != nil && c.Metadata.UID == r.UID {
			list = append(list, p.marks[c.Key()]...)
		}
	}
	if owner := generated.OwnerOf(&olm.Object{Header: *h}); owner.Kind == olm.KindClusterServiceVersion && owner.Namespace == p.Namespace && p.CSV(owner.Name) != nil {
		list = append(list, p.marks[owner]...)
	}
	return list
}
