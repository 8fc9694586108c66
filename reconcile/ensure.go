package reconcile

import (
	"maps"
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// ensure plans the creation of a generated object, or an update where its labels,
// owners or content differ. Additions to the object stay. It reports whether nothing
// has to change.
func (p *planner) ensure(want olm.Resource, forKey olm.Key, event *Event, format string, args ...any) (bool, error) {
	w, err := olm.ToObject(want)
	if err != nil {
		return false, err
	}
	have, err := p.find(w.Key())
	if err != nil {
		return false, err
	}
	if have == nil {
		p.known(GroupKind{w.Key().Group, w.Kind}, w.Metadata.Name)
		return false, p.emit(Create, &w, forKey, event, format, args...)
	}
	merged := merge(have, &w)
	if olm.Equal(have, merged) {
		return true, nil
	}
	return false, p.emit(Update, merged, forKey, event, format, args...)
}

// find returns an object of any kind of the snapshot, or nil. It looks in all lists
// of the snapshot: an existing object that is not found would be created again and
// again.
func (p *planner) find(k olm.Key) (*olm.Object, error) {
	var r olm.Resource
	switch k.Group + "/" + k.Kind {
	case "/Namespace":
		r = pick(p.Namespaces, k)
	case olm.GroupCRD + "/" + olm.KindCRD:
		r = pick(p.CRDs, k)
	case "apps/Deployment":
		r = pick(p.Deployments, k)
	case olm.Group + "/" + olm.KindOperatorGroup:
		r = pick(p.OperatorGroups, k)
	case olm.Group + "/" + olm.KindClusterServiceVersion:
		r = pick(p.CSVs, k)
	case olm.Group + "/" + olm.KindCatalogSource:
		r = pick(p.CatalogSources, k)
	case olm.Group + "/" + olm.KindSubscription:
		r = pick(p.Subscriptions, k)
	case olm.Group + "/" + olm.KindInstallPlan:
		if ip := p.installPlan(k.Name); ip != nil && ip.Key() == k { // they are in order of generation
			r = ip
		}
	case olm.Group + "/" + olm.KindOperatorCondition:
		r = pick(p.OperatorConditions, k)
	case olm.Group + "/" + olm.KindOLMConfig:
		if c := p.OLMConfig; c != nil && c.Key() == k {
			r = c
		}
	}
	if r == nil {
		return p.object(k), nil
	}
	o, err := olm.ToObject(r)
	return &o, err
}

// pick returns the first resource of a key in a list that is sorted by key, or nil.
func pick[R olm.Resource](list []R, k olm.Key) olm.Resource {
	i, ok := slices.BinarySearchFunc(list, k, func(r R, k olm.Key) int { return r.Head().Key().Compare(k) })
	if !ok {
		return nil
	}
	return list[i]
}

// merge returns have with the labels, annotations and owners of want added, and each
// of its top-level members replaced by that of want, except the status.
func merge(have, want *olm.Object) *olm.Object {
	out := *have
	out.Metadata.Labels = union(have.Metadata.Labels, want.Metadata.Labels)
	out.Metadata.Annotations = union(have.Metadata.Annotations, want.Metadata.Annotations)
	out.Metadata.OwnerReferences = unionOwners(have.Metadata.OwnerReferences, want.Metadata.OwnerReferences)
	for name, v := range want.Rest {
		if was, ok := have.Rest[name]; name == "status" || ok && olm.EqualJSON(was, v) {
			continue
		}
		out.Rest = out.Rest.With(name, v)
	}
	return &out
}

func union(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

func unionOwners(a, b []olm.OwnerReference) []olm.OwnerReference {
	out := append([]olm.OwnerReference(nil), a...)
next:
	for _, o := range b {
		for i, old := range out {
			if old.Kind == o.Kind && old.Name == o.Name && (old.UID == o.UID || o.UID == "") {
				continue next
			}
			if old.Kind == o.Kind && old.Name == o.Name {
				out[i] = o // the owner was recreated
				continue next
			}
		}
		out = append(out, o)
	}
	return out
}
