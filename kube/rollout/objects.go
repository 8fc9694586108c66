package rollout

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Named returns the objects of all revisions whose Secrets are in the snapshot, as they are
// in the Secrets, except of those that are torn down. A caller reads the objects of these names
// into the snapshot.
func (s *Snapshot) Named() []*unstructured.Unstructured {
	w := newWorld(s)
	var out []*unstructured.Unstructured
	for _, r := range w.revisions {
		if r.done() {
			continue
		}
		phases, f := w.resolve(r)
		if f != nil {
			continue
		}
		for _, p := range phases {
			out = append(out, p.Objects...)
		}
	}
	return out
}
