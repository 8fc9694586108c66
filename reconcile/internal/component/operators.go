package component

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Operators plans the Operators of the namespace: each lists the objects that have its
// label, with their conditions (E31). Their status is written only if nothing else needs to
// be done, so that it is not written after each step of an installation. An Operator is
// created when an object has its label and, as in OLM, never deleted.
func Operators(w *world.World, p *change.Writer) error {
	if len(p.Changes) > 0 || !w.Knows(world.KindOperator) {
		return nil
	}
	c := planner{World: w, Writer: p}
	refs, err := c.refs()
	if err != nil {
		return err
	}
	existing := map[string]*olm.Operator{}
	var list []string
	for i := range w.Objects {
		k := w.Objects[i].Key()
		if (olm.GroupKind{Group: k.Group, Kind: k.Kind}) == world.KindOperator && (refs[k.Name] != nil || c.isOurs(k.Name)) {
			o, err := olm.As[olm.Operator](w.Objects[i])
			if err != nil {
				return err
			}
			existing[k.Name] = o
			if c.isOurs(k.Name) {
				list = append(list, k.Name)
			}
		}
	}
	for name := range refs {
		list = append(list, name)
	}
	slices.Sort(list)
	for _, name := range slices.Compact(list) {
		have := existing[name]
		if have == nil {
			o := &olm.Operator{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperator, Metadata: olm.Metadata{Name: name}}}
			if err := p.Emit(change.Create, o, o.Key(), nil, "E31", "lists the objects of the operator"); err != nil {
				return err
			}
			continue
		}
		out := *have
		out.Status.Components = &olm.Components{
			LabelSelector: &olm.LabelSelector{MatchExpressions: []olm.LabelSelectorRequirement{{Key: olm.LabelComponent + name, Operator: "Exists"}}},
			Refs:          c.merge(have, refs[name]),
		}
		if olm.Equal(have, &out) {
			continue
		}
		if err := p.Emit(change.UpdateStatus, &out, out.Key(), nil, "E31", "lists %s", phrase.Count(len(out.Status.Components.Refs), "object")); err != nil {
			return err
		}
	}
	return nil
}

// isOurs reports whether an Operator is for a package in the namespace, by its name.
func (p *planner) isOurs(name string) bool {
	i := strings.LastIndexByte(name, '.')
	return i > 0 && olm.OperatorName(name[:i], p.Namespace) == name
}

// refs returns references to the objects that have labels, by the name in the label: those
// of the namespace, and the others that were made for it.
func (p *planner) refs() (map[string][]olm.ComponentRef, error) {
	all := map[string][]olm.ComponentRef{}
	add := func(r olm.Resource, isOurs func(name string) bool) error {
		var conditions []olm.Condition
		for _, name := range names(&r.Head().Metadata) {
			if !isOurs(name) {
				continue
			}
			if conditions == nil {
				var err error
				if conditions, err = conditionsOf(r); err != nil {
					return err
				}
			}
			all[name] = append(all[name], ref(r.Head(), conditions))
		}
		return nil
	}
	any := func(string) bool { return true }
	for _, r := range p.local() {
		if err := add(r, any); err != nil {
			return nil, err
		}
	}
	isOurs := func(name string) bool { return all[name] != nil || p.isOurs(name) }
	for _, crd := range p.CRDs {
		if err := add(crd, isOurs); err != nil {
			return nil, err
		}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		k := o.Key()
		if k.Namespace != p.Namespace && slices.Contains(kinds, olm.GroupKind{Group: k.Group, Kind: k.Kind}) {
			if err := add(o, isOurs); err != nil {
				return nil, err
			}
		}
	}
	p.addBundled(all)
	return all, nil
}

// local returns the objects of the namespace that can be components.
func (p *planner) local() (list []olm.Resource) {
	for _, s := range p.Subscriptions {
		list = append(list, s)
	}
	for _, ip := range p.InstallPlans {
		list = append(list, ip)
	}
	for _, c := range p.Own() {
		list = append(list, c)
	}
	for _, oc := range p.OperatorConditions {
		list = append(list, oc)
	}
	for _, d := range p.Deployments {
		list = append(list, d)
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		owner := generated.OwnerOf(o).Namespace // an Operator of another namespace lists its own objects here
		if k := o.Key(); k.Namespace == p.Namespace && (owner == "" || owner == p.Namespace) && !generated.IsOfCopy(o) && slices.Contains(kinds, olm.GroupKind{Group: k.Group, Kind: k.Kind}) {
			list = append(list, o)
		}
	}
	return list
}

// isBundled reports whether objects of a kind are created by install plans and not read
// afterwards.
func isBundled(group, kind string) bool {
	return group == "" && (kind == "Service" || kind == "Secret" || kind == "ConfigMap")
}

// addBundled adds the objects of isBundled kinds that install plans created for CSVs. They
// exist as long as their CSV.
func (p *planner) addBundled(all map[string][]olm.ComponentRef) {
	for _, ip := range p.InstallPlans {
		for i := range ip.Status.Plan {
			s := &ip.Status.Plan[i]
			c := p.CSV(s.Resolving)
			if c == nil || !world.IsDone(s) || !isBundled(s.Resource.Group, s.Resource.Kind) {
				continue
			}
			for _, name := range names(&c.Metadata) {
				r := olm.ComponentRef{APIVersion: s.Resource.Version, Kind: s.Resource.Kind, Namespace: p.Namespace, Name: s.Resource.Name}
				if !slices.ContainsFunc(all[name], func(o olm.ComponentRef) bool { return compareRefs(o, r) == 0 }) {
					all[name] = append(all[name], r)
				}
			}
		}
	}
}

// merge returns the references of an Operator in order: those in found, and those in the
// status of have whose objects may still exist although they were not found.
func (p *planner) merge(have *olm.Operator, found []olm.ComponentRef) []olm.ComponentRef {
	name := have.Metadata.Name
	isShared := slices.ContainsFunc(p.CSVs, func(c *olm.ClusterServiceVersion) bool {
		_, ok := c.Metadata.Labels[olm.LabelComponent+name]
		return ok && c.Metadata.Namespace != p.Namespace && !olm.IsCopied(c)
	})
	// If the install plan of a CSV was deleted, the objects that it created are unknown.
	isUnknown := slices.ContainsFunc(p.Own(), func(c *olm.ClusterServiceVersion) bool {
		_, ok := c.Metadata.Labels[olm.LabelComponent+name]
		return ok && !slices.ContainsFunc(p.InstallPlans, func(ip *olm.InstallPlan) bool {
			return slices.ContainsFunc(ip.Status.Plan, func(s olm.Step) bool { return s.Resolving == c.Metadata.Name })
		})
	})
	if c := have.Status.Components; c != nil {
		for _, r := range c.Refs {
			keep := r.Namespace != p.Namespace && isShared || r.Namespace == p.Namespace && isUnknown && r.APIVersion == "v1" && isBundled("", r.Kind)
			if keep && !slices.ContainsFunc(found, func(o olm.ComponentRef) bool { return compareRefs(o, r) == 0 }) {
				found = append(found, r)
			}
		}
	}
	slices.SortFunc(found, compareRefs)
	return found
}

func compareRefs(a, b olm.ComponentRef) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func ref(h *olm.Header, conditions []olm.Condition) olm.ComponentRef {
	return olm.ComponentRef{APIVersion: h.APIVersion, Kind: h.Kind, Namespace: h.Metadata.Namespace, Name: h.Metadata.Name, Conditions: conditions}
}

// conditionsOf returns the conditions in the status of an object. For a CSV, it returns the
// phase as a condition.
func conditionsOf(r olm.Resource) ([]olm.Condition, error) {
	if c, ok := r.(*olm.ClusterServiceVersion); ok {
		s := &c.Status
		return []olm.Condition{{
			Type: string(s.Phase), Status: olm.ConditionTrue, Reason: string(s.Reason), Message: s.Message,
			LastUpdateTime: s.LastUpdateTime, LastTransitionTime: s.LastTransitionTime,
		}}, nil
	}
	o, err := olm.ToObject(r)
	if err != nil {
		return nil, err
	}
	var status struct {
		Conditions []olm.Condition `json:"conditions"`
	}
	text, ok := o.Get("status")
	if !ok {
		return nil, nil
	}
	if err := olm.Unmarshal(text, &status); err != nil {
		return nil, nil // its conditions do not have the format of Kubernetes
	}
	for i := range status.Conditions {
		status.Conditions[i].ObservedGeneration, status.Conditions[i].Rest = 0, nil
	}
	return status.Conditions, nil
}
