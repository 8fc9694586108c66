package rollout

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// A world is a snapshot with its indexes, and the plan that is made.
type world struct {
	revisions []*Revision // by number; copies
	objects   map[string]*unstructured.Unstructured
	secrets   map[string]*corev1.Secret // by namespace/name
	fresh     map[*Revision]bool        // whose digests are new
	snapshot  *Snapshot
	plan      *Plan
}

func newWorld(s *Snapshot) *world {
	w := &world{objects: map[string]*unstructured.Unstructured{}, secrets: map[string]*corev1.Secret{}, fresh: map[*Revision]bool{}, snapshot: s, plan: &Plan{}}
	for _, r := range s.Revisions {
		w.revisions = append(w.revisions, &r)
	}
	slices.SortFunc(w.revisions, func(a, b *Revision) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name))
	})
	for _, o := range s.Objects {
		w.objects[registryv1.Key(o)] = o
	}
	for i := range s.Secrets {
		x := &s.Secrets[i]
		w.secrets[x.Namespace+"/"+x.Name] = x
	}
	return w
}

// Decide returns the writes that are due for the revisions of an extension. The order of the
// snapshot does not matter.
func Decide(s *Snapshot) *Plan {
	w := newWorld(s)
	faults := map[*Revision]*fault{}
	for _, r := range w.revisions {
		if !r.done() {
			faults[r] = w.content(r)
		}
	}
	for _, r := range w.revisions {
		f := faults[r]
		switch {
		case r.done():
			// Nothing is left to do, and its Secrets need not exist.
		case r.Deleting && !r.Archived, f != nil && r.Archived && (r.Deleting || s.Extension.Deleting):
			if r.Finalizer { // K95: the garbage collector deletes its objects
				w.write(r, Write{Op: RemoveFinalizer})
			}
		case f != nil && (!s.Extension.Deleting || r.Archived):
			w.stop(r, f)
		case r.Archived:
			w.tearDown(r)
		case s.Extension.Deleting:
			w.write(r, Write{Op: Archive})
		case !r.Finalizer:
			w.write(r, Write{Op: AddFinalizer}) // K95
		default:
			w.rollOut(r)
		}
	}
	if e := s.Extension; e.Deleting && e.Finalizer && !slices.ContainsFunc(w.revisions, func(r *Revision) bool { return !r.done() }) && !w.clear() {
		var known []string
		for _, r := range w.revisions {
			known = append(known, r.Name)
		}
		w.plan.Writes = append(w.plan.Writes, Write{Op: RemoveFinalizer, Version: e.ResourceVersion, Known: known}) // K103
	}
	return w.plan
}

// clear deletes what the garbage collector does not delete when the extension goes: revisions
// that it has orphaned with their objects, and then their Secrets. It returns whether anything is left.
func (w *world) clear() bool { // K94
	left := false
	for _, r := range w.revisions {
		if !r.Orphan {
			continue
		}
		left = true
		if !r.Deleting {
			w.write(r, Write{Op: DeleteRevision, Orphan: true})
		}
	}
	if left {
		return true
	}
	w.sweep(nil)
	return len(w.plan.Writes) > 0
}

func (w *world) write(r *Revision, x Write) {
	x.Revision, x.Version = r.Name, r.ResourceVersion
	w.plan.Writes = append(w.plan.Writes, x)
}

// rollOut brings the objects of an active revision to the cluster, phase by phase.
func (w *world) rollOut(r *Revision) { // K87
	var p progress
	for i, phase := range r.Phases {
		before := len(w.plan.Writes)
		ready := true
		for n := range phase.Objects {
			if !w.object(r, i, n, &p) {
				ready = false
			}
		}
		w.migrateFirst(before)
		p.phase = i
		if !ready || len(w.plan.Writes) > before {
			w.report(r, p)
			return
		}
	}
	p.complete = true
	for _, old := range w.revisions { // K93
		if old.Number < r.Number && !old.Archived && !old.Deleting {
			w.write(old, Write{Op: Archive})
		}
	}
	w.report(r, p)
}

// migrateFirst leaves out the other writes of a phase, those from n on, while fields are to be
// migrated. Then those that remain are all that the phase needs, and can be tried together.
func (w *world) migrateFirst(n int) { // K85, K88
	isMigrate := func(x Write) bool { return x.Op == Migrate }
	if slices.ContainsFunc(w.plan.Writes[n:], isMigrate) {
		w.plan.Writes = append(w.plan.Writes[:n], slices.DeleteFunc(w.plan.Writes[n:], func(x Write) bool { return !isMigrate(x) })...)
	}
}

// object keeps object n of phase i up to date, and returns whether it is ready.
func (w *world) object(r *Revision, i, n int, p *progress) bool {
	phase, want := r.Phases[i].Name, r.Phases[i].Objects[n]
	wait := func(live *unstructured.Unstructured, collides bool, message string) {
		w.plan.Waits = append(w.plan.Waits, Wait{Revision: r.Name, Phase: phase, Object: live, Collides: collides, Message: message})
	}
	live := w.objects[registryv1.Key(want)]
	switch w.claim(r, r.protection(i, n), live) {
	case missing:
		w.write(r, Write{Op: Create, Object: w.owned(r, want, nil)})
		return false
	case foreign:
		wait(live, true, p.collide(live))
		return false
	case newer:
		return true
	case adoptable:
		w.apply(r, w.owned(r, want, live), live)
		return false
	}
	if live.GetDeletionTimestamp() != nil {
		wait(live, false, "it is being deleted, and is created again when it is gone")
		return false
	}
	if desired := w.owned(r, want, live); w.drifted(r, desired, live) {
		w.apply(r, desired, live) // K86
		return false
	}
	v, messages := probe(live, r.Probes)
	if v != passed {
		p.fail(live, messages)
		wait(live, false, strings.Join(messages, " and "))
	}
	return v == passed
}

// apply applies an object that exists, once Server-Side Apply owns the fields that were set
// when it was created.
func (w *world) apply(r *Revision, desired, live *unstructured.Unstructured) { // K85
	if o := migrated(live); o != nil {
		w.write(r, Write{Op: Migrate, Object: o})
		return
	}
	w.write(r, Write{Op: Apply, Object: desired})
}

// done returns whether a revision is archived and its objects are removed.
func (r *Revision) done() bool { return r.Archived && !r.Finalizer }

// tearDown removes the objects of an archived revision, the last phase first.
func (w *world) tearDown(r *Revision) { // K94
	for _, phase := range slices.Backward(r.Phases) {
		gone := true
		for _, o := range phase.Objects {
			live := w.objects[registryv1.Key(o)]
			if live == nil || !w.refers(live, r) && !(r.Orphan && marked(r, live)) {
				continue
			}
			switch {
			case w.refers(live, r) && !w.controls(r, live):
				gone = false
				w.write(r, Write{Op: SetOwners, Object: released(r, live)})
			case w.active(o):
				gone = false // its revision adopts it first
			case r.Orphan:
				gone = false
				w.write(r, Write{Op: Release, Object: w.orphaned(r, live)})
			default:
				gone = false
				if live.GetDeletionTimestamp() == nil {
					w.write(r, Write{Op: Delete, Object: identity(live)})
				}
			}
		}
		if !gone {
			w.again(removal)
			w.status(r, archiving(r))
			return
		}
	}
	if !w.status(r, archived(r)) {
		w.write(r, Write{Op: RemoveFinalizer})
	}
}

// active returns whether an active revision has an object, or may have it: what is in a Secret
// that does not exist is not known.
func (w *world) active(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(w.revisions, func(r *Revision) bool {
		return !r.Archived && !r.Deleting && slices.ContainsFunc(r.Phases, func(p registryv1.Phase) bool {
			return slices.ContainsFunc(p.Objects, func(x *unstructured.Unstructured) bool { return x == nil || registryv1.Key(x) == registryv1.Key(o) })
		})
	})
}
