package rollout

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// kept is how many of the latest revisions of an extension are always kept.
const kept = 5

// Next returns the writes that bring the revisions of an extension to want, which has the
// rendered objects of a bundle, the protection, the probes and the deadline. If the latest
// revision has the same phases, its settings and Secrets are kept up to date. Otherwise old
// archived revisions are deleted, and a revision with the next number is created, after the
// Secrets that hold its objects. Decide again only after these writes: an archived revision
// keeps an object only for a revision in the snapshot.
//
// The error is that of [registryv1.Pack].
func Next(s *Snapshot, want Revision) ([]Write, error) { // K70, K71, K72
	w := newWorld(s)
	if s.Extension.Deleting {
		return nil, nil
	}
	if !s.Extension.Finalizer { // K65
		return []Write{{Op: AddFinalizer, Version: s.Extension.ResourceVersion}}, nil
	}
	want.Owner = s.Extension.Name
	phases := registryv1.Own(want.Phases, registryv1.Owner{Name: want.Owner, Package: want.Bundle.Package, Version: want.Bundle.Version})
	number := int64(1)
	if n := len(w.revisions); n > 0 {
		latest := w.revisions[n-1]
		number = latest.Number + 1
		if !latest.Archived {
			p, err := registryv1.Pack(phases, latest.Name, s.Namespace, want.Owner)
			if err != nil {
				return nil, err
			}
			if same(latest, phases, p.Refs) {
				if latest.Deleting {
					return nil, nil // until it is gone: a snapshot may show either
				}
				w.update(latest, want)
				w.secure(latest, p.Secrets)
				w.sweep(nil)
				return w.plan.Writes, nil
			}
		}
		for _, r := range w.revisions[:max(0, n-kept)] {
			if r.Archived && !r.Deleting {
				w.write(r, Write{Op: DeleteRevision})
			}
		}
	}
	want.Number, want.Name = number, fmt.Sprintf("%s-%d", want.Owner, number)
	p, err := registryv1.Pack(phases, want.Name, s.Namespace, want.Owner)
	if err != nil {
		return nil, err
	}
	w.secure(&want, p.Secrets)
	w.sweep(p.Secrets)
	want.Phases, want.Refs = hollow(phases), p.Refs
	w.plan.Writes = append(w.plan.Writes, Write{Op: CreateRevision, Revision: want.Name, New: &want})
	return w.plan.Writes, nil
}

// hollow returns phases whose objects are in Secrets.
func hollow(phases []registryv1.Phase) []registryv1.Phase {
	out := make([]registryv1.Phase, len(phases))
	for i, p := range phases {
		out[i] = registryv1.Phase{Name: p.Name, Objects: make([]*unstructured.Unstructured, len(p.Objects))}
	}
	return out
}

// same returns whether a revision has these phases, with the objects in these places.
func same(r *Revision, phases []registryv1.Phase, refs [][]registryv1.Ref) bool { // K71
	return reflect.DeepEqual(r.Phases, hollow(phases)) && reflect.DeepEqual(r.Refs, refs)
}

// update changes in place what may change.
func (w *world) update(r *Revision, want Revision) { // K71
	if r.Bundle != want.Bundle || r.Deadline != want.Deadline || !reflect.DeepEqual(r.Probes, want.Probes) {
		w.write(r, Write{Op: UpdateRevision, New: &want})
	}
}

// secure creates the Secrets of a revision that do not exist, and makes the revision their
// owner. Until it exists, that is the extension, so that they never outlive it.
func (w *world) secure(r *Revision, secrets []corev1.Secret) { // K72, K76
	e := w.snapshot.Extension
	owner := metav1.OwnerReference{APIVersion: groupVersion, Kind: "ClusterExtension", Name: e.Name, UID: e.UID}
	if r.UID != "" {
		owner = w.reference(r)
	}
	for _, s := range secrets {
		live := w.secrets[s.Namespace+"/"+s.Name]
		s.OwnerReferences = []metav1.OwnerReference{owner}
		switch {
		case live == nil:
			w.write(r, Write{Op: Create, Object: loose(&s)})
		case !slices.ContainsFunc(live.OwnerReferences, func(x metav1.OwnerReference) bool { return x.UID == owner.UID }):
			o := identity(loose(live))
			o.SetOwnerReferences(s.OwnerReferences)
			w.write(r, Write{Op: SetOwners, Object: o})
		}
	}
}

// sweep deletes Secrets of the extension that no revision refers to, except those that are
// needed next. A pass that was interrupted leaves them.
func (w *world) sweep(next []corev1.Secret) {
	used := map[string]bool{}
	for _, s := range next {
		used[s.Namespace+"/"+s.Name] = true
	}
	for _, r := range w.revisions {
		for _, refs := range r.Refs {
			for _, ref := range refs {
				used[ref.Namespace+"/"+ref.Name] = true
			}
		}
	}
	secrets := slices.Clone(w.snapshot.Secrets)
	slices.SortFunc(secrets, func(a, b corev1.Secret) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range secrets {
		if s.Namespace == w.snapshot.Namespace && s.Type == objectData && s.Labels[prefix+"owner-name"] == w.snapshot.Extension.Name &&
			!used[s.Namespace+"/"+s.Name] && s.DeletionTimestamp == nil {
			w.plan.Writes = append(w.plan.Writes, Write{Op: DeleteUnused, Object: identity(loose(&s))})
		}
	}
}

const objectData = prefix + "object-data"

// loose returns a Secret as an unstructured object.
func loose(s *corev1.Secret) *unstructured.Unstructured {
	data := map[string]any{}
	for k, v := range s.Data {
		data[k] = base64.StdEncoding.EncodeToString(v)
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "immutable": true, "type": string(s.Type), "data": data}}
	o.SetNamespace(s.Namespace)
	o.SetName(s.Name)
	o.SetUID(s.UID)
	o.SetResourceVersion(s.ResourceVersion)
	o.SetLabels(s.Labels)
	o.SetOwnerReferences(s.OwnerReferences)
	return o
}
