package generated

import (
	"maps"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
)

// Ensure plans the creation of a generated object, or an update if its labels, owners or
// content differ. Additions to the object stay. It reports whether no change is needed.
func (p *Keeper) Ensure(want olm.Resource, forKey olm.Key, event *change.Event, rule, format string, args ...any) (bool, error) {
	w, err := olm.ToObject(want)
	if err != nil {
		return false, err
	}
	have, err := p.Find(w.Key())
	if err != nil {
		return false, err
	}
	if have == nil {
		p.IsRead(olm.GroupKind{Group: w.Key().Group, Kind: w.Kind}, w.Metadata.Name)
		return false, p.Emit(change.Create, &w, forKey, event, rule, format, args...)
	}
	merged := Merge(have, &w)
	if olm.Equal(have, merged) {
		return true, nil
	}
	return false, p.Emit(change.Update, merged, forKey, event, rule, format, args...)
}

// Merge returns have with the labels, annotations and owners of want added, and each
// of its top-level members replaced by that of want, except the status.
func Merge(have, want *olm.Object) *olm.Object {
	out := *have
	out.Metadata.Labels = Union(have.Metadata.Labels, want.Metadata.Labels)
	out.Metadata.Annotations = Union(have.Metadata.Annotations, want.Metadata.Annotations)
	out.Metadata.OwnerReferences = UnionOwners(have.Metadata.OwnerReferences, want.Metadata.OwnerReferences)
	for name, v := range want.Rest {
		if was, ok := have.Rest[name]; name == "status" || ok && olm.EqualJSON(was, v) {
			continue
		}
		out.Rest = out.Rest.With(name, v)
	}
	return &out
}

// Union returns the labels in a or b. For a label in both, it uses the value in b.
func Union(a, b map[string]string) map[string]string {
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

// UnionOwners returns the owners in a or b. For an owner that was recreated, it uses the
// reference in b.
func UnionOwners(a, b []olm.OwnerReference) []olm.OwnerReference {
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

// AppendAll appends resources of one type to a list of any.
func AppendAll[R olm.Resource](list []olm.Resource, more []R) []olm.Resource {
	for _, r := range more {
		list = append(list, r)
	}
	return list
}

// ServiceAccount returns a service account.
func ServiceAccount(namespace, name string) *olm.Object {
	return &olm.Object{Header: olm.Header{APIVersion: "v1", Kind: "ServiceAccount", Metadata: olm.Metadata{Name: name, Namespace: namespace}}}
}
