package rollout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/olmkit/olmkit/kube/registryv1"
)

// A Rehearsal is a rollout that happened only in memory.
type Rehearsal struct { // K240
	// Steps are the writes, in order.
	Steps []Step
	// Waits are what the rollout waited for: objects on the cluster that were not ready, which
	// then counted as ready, objects of other owners, which then counted as removed, objects
	// that the API server rejects, which then counted as accepted, and what ended it early.
	Waits []Wait
	// Unblocked is the number of steps before the first object of another owner, or the first
	// phase with an object that the API server rejects. If there is none, it is the number of
	// all steps.
	Unblocked int
	// Reached is the state after the unblocked steps, and After is the state at the end.
	Reached, After *Snapshot
}

// A Step is a write of a rehearsal.
type Step struct {
	Write
	// Pass is the number of the decision that led to the write, from 1.
	Pass int
	// Phase is the phase of Object, and Before is the object on the cluster, or nil.
	Phase  string
	Before *unstructured.Unstructured
}

// maxPasses bounds the passes of a rehearsal. A revision has at most twenty phases, and each
// takes a few.
const maxPasses = 1000

// Rehearse makes in memory the writes that bring an extension to want, and all that follow from
// them, until nothing is left to do. Want is as for [Next]. If it is nil, only the existing
// revisions go on. Every object is ready as soon as it is written, and what is deleted is gone
// at once. The snapshot is not modified.
//
// The error is that of [registryv1.Pack].
func Rehearse(s *Snapshot, want *Revision) (*Rehearsal, error) { // K240
	return RehearseOn(s, want, func(*unstructured.Unstructured, []*unstructured.Unstructured) string { return "" })
}

// RehearseOn is like [Rehearse] on a cluster that may reject objects. It calls rejects with each
// object that a revision creates, and the objects that the snapshot has then. The result is why
// the API server rejects it in a dry run, or empty.
func RehearseOn(s *Snapshot, want *Revision, rejects func(o *unstructured.Unstructured, existing []*unstructured.Unstructured) string) (*Rehearsal, error) { // K88, K240
	c := s.clone()
	h := &rehearsing{Snapshot: c, out: &Rehearsal{After: c}, waited: map[string]bool{}}
	for pass := 1; pass <= maxPasses; pass++ {
		var writes []Write
		decided := false
		if want != nil {
			var err error
			if writes, err = Next(c, *want); err != nil {
				return nil, err
			}
		}
		var waits []Wait
		if len(writes) == 0 {
			p := Decide(c)
			writes, waits, decided = p.Writes, p.Waits, true
		}
		phases := h.phases()
		for _, w := range writes {
			if !decided || w.Op != Create {
				continue
			}
			if message := rejects(w.Object, c.Objects); message != "" {
				h.reach() // nothing of the phase is written
				h.note(Wait{Revision: w.Revision, Phase: phases[w.Revision][registryv1.Key(w.Object)], Object: w.Object, Rejected: true, Message: message})
			}
		}
		for _, w := range writes {
			step := Step{Write: w, Pass: pass}
			// What is decided is about the objects of revisions, except for unused Secrets.
			if isContent := !decided || w.Op == DeleteUnused; w.Object != nil && isContent {
				if err := h.makeSecret(w); err != nil {
					return nil, err
				}
			} else {
				if w.Object != nil {
					key := registryv1.Key(w.Object)
					step.Phase = phases[w.Revision][key]
					if i := h.find(key); i >= 0 {
						step.Before = c.Objects[i]
					}
				}
				h.make(w)
			}
			h.out.Steps = append(h.out.Steps, step)
		}
		if slices.ContainsFunc(waits, func(x Wait) bool { return x.Collides }) {
			h.reach()
		}
		if goesOn := h.wait(waits); len(writes) == 0 && !goesOn || c.Extension.Deleting && !c.Extension.Finalizer {
			h.reach()
			return h.out, nil
		}
	}
	return nil, errors.New("the rollout does not come to an end") // the invariants of Decide exclude that
}

// rehearsing is the cluster of a rehearsal.
type rehearsing struct {
	*Snapshot
	out     *Rehearsal
	waited  map[string]bool // by revision, object and message
	version int
}

// clone returns a copy whose lists can be changed.
func (s *Snapshot) clone() *Snapshot {
	c := *s
	c.Revisions, c.Secrets, c.Objects = slices.Clone(s.Revisions), slices.Clone(s.Secrets), slices.Clone(s.Objects)
	c.Applied = maps.Clone(s.Applied)
	if c.Applied == nil {
		c.Applied = map[types.UID]string{}
	}
	return &c
}

// reach records that the rollout does not get further than it is now, or the end.
func (h *rehearsing) reach() {
	if h.out.Reached == nil {
		h.out.Unblocked, h.out.Reached = len(h.out.Steps), h.clone()
	}
}

func (h *rehearsing) next() string { h.version++; return fmt.Sprint("rehearsed-", h.version) }

// phases returns the phase of each object of each revision.
func (h *rehearsing) phases() map[string]map[string]string {
	w := newWorld(h.Snapshot)
	out := map[string]map[string]string{}
	for _, r := range w.revisions {
		phases, f := w.resolve(r)
		if r.done() || f != nil {
			continue
		}
		out[r.Name] = map[string]string{}
		for _, p := range phases {
			for _, o := range p.Objects {
				out[r.Name][registryv1.Key(o)] = p.Name
			}
		}
	}
	return out
}

func (h *rehearsing) find(key string) int {
	return slices.IndexFunc(h.Objects, func(o *unstructured.Unstructured) bool { return registryv1.Key(o) == key })
}

// secret returns the index of the Secret that o is, or -1.
func (h *rehearsing) secret(o *unstructured.Unstructured) int {
	return slices.IndexFunc(h.Secrets, func(s corev1.Secret) bool { return s.Namespace == o.GetNamespace() && s.Name == o.GetName() })
}

// note records a wait, and returns whether it is new.
func (h *rehearsing) note(x Wait) bool {
	id := x.Revision + " " + x.Message
	if x.Object != nil {
		id += registryv1.Key(x.Object)
	}
	if h.waited[id] {
		return false
	}
	h.waited[id] = true
	h.out.Waits = append(h.out.Waits, x)
	return true
}

// wait records waits. It makes the objects ready, or removes them if another owner has them or
// they are being deleted. It returns whether the rollout goes on.
func (h *rehearsing) wait(waits []Wait) bool {
	goesOn := false
	for _, x := range waits {
		if h.note(x) && x.Object != nil {
			goesOn = true
		}
		if x.Object == nil {
			continue
		}
		i := h.find(registryv1.Key(x.Object))
		if i < 0 {
			continue
		}
		if x.Collides || x.Object.GetDeletionTimestamp() != nil {
			h.Objects = slices.Delete(h.Objects, i, i+1)
			continue
		}
		h.Objects[i] = h.ready(x.Revision, h.Objects[i])
	}
	return goesOn
}

// ready returns an object that passes the probes of a revision.
func (h *rehearsing) ready(revision string, o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	i := slices.IndexFunc(h.Revisions, func(r Revision) bool { return r.Name == revision })
	if i < 0 {
		return o
	}
	unstructured.RemoveNestedField(o.Object, "status", "observedGeneration")
	for _, p := range h.Revisions[i].Probes {
		if !p.selects(o) {
			continue
		}
		for _, a := range p.Assertions {
			a.make(o)
		}
	}
	return o
}

// make makes an assertion hold, if it is about the status.
func (a *Assertion) make(o *unstructured.Unstructured) {
	set := func(path string, v any) {
		_ = unstructured.SetNestedField(o.Object, v, strings.Split(strings.TrimPrefix(path, "."), ".")...) // a value in the way fails the probe
	}
	switch {
	case a.Condition != "":
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		list = slices.DeleteFunc(list, func(v any) bool { c, ok := v.(map[string]any); return ok && c["type"] == a.Condition })
		set("status.conditions", append(list, map[string]any{"type": a.Condition, "status": a.Status}))
	case a.FieldA != "":
		v, ok := field(o, a.FieldB)
		if !ok {
			v = int64(1)
			set(a.FieldB, v)
		}
		set(a.FieldA, v)
	default:
		set(a.Field, a.Value)
	}
}

// make makes a write that is not to a Secret that holds objects.
func (h *rehearsing) make(w Write) {
	switch {
	case w.Object != nil:
		h.makeObject(w)
		return
	case w.Op == CreateRevision:
		r := *w.New
		r.UID, r.ResourceVersion, r.Created, r.Generation = types.UID("uid-"+r.Name), h.next(), h.Now, 1
		h.Revisions = append(h.Revisions, r)
		return
	case w.Revision == "":
		h.Extension.Finalizer = w.Op == AddFinalizer
		return
	}
	i := slices.IndexFunc(h.Revisions, func(r Revision) bool { return r.Name == w.Revision })
	if i < 0 {
		return
	}
	r := &h.Revisions[i]
	switch w.Op {
	case AddFinalizer:
		r.Finalizer = true
	case RemoveFinalizer:
		r.Finalizer = false
	case Archive:
		r.Archived = true
	case SetStatus:
		r.Conditions, r.Observed = w.Conditions, w.Observed
	case UpdateRevision:
		r.Bundle, r.Deadline, r.Probes = w.New.Bundle, w.New.Deadline, w.New.Probes
	case DeleteRevision:
		r.Deleting = true
	}
	if r.Deleting && !r.Finalizer {
		h.Revisions = slices.Delete(h.Revisions, i, i+1)
	}
}

// makeSecret makes a write to a Secret that holds objects.
func (h *rehearsing) makeSecret(w Write) error {
	i := h.secret(w.Object)
	switch {
	case w.Op == Create:
		var s corev1.Secret
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.Object.Object, &s); err != nil {
			return err
		}
		s.UID, s.ResourceVersion = types.UID("uid-"+h.next()), h.next()
		h.Secrets = append(h.Secrets, s)
	case i < 0:
	case w.Op == SetOwners:
		h.Secrets[i].OwnerReferences = w.Object.GetOwnerReferences()
	case w.Op == DeleteUnused:
		h.Secrets = slices.Delete(h.Secrets, i, i+1)
	}
	return nil
}

// makeObject makes a write to an object of a revision.
func (h *rehearsing) makeObject(w Write) {
	i := h.find(registryv1.Key(w.Object))
	switch w.Op {
	case Create:
		o := w.Object.DeepCopy()
		o.SetUID(types.UID("uid-" + registryv1.Key(o))) // also unlike those of other rehearsals
		h.Objects = append(h.Objects, h.applied(w.Revision, o))
		return
	}
	if i < 0 {
		return
	}
	switch w.Op {
	case Apply:
		o := w.Object.DeepCopy()
		if status, ok := h.Objects[i].Object["status"]; ok {
			o.Object["status"] = runtime.DeepCopyJSONValue(status)
		}
		h.Objects[i] = h.applied(w.Revision, o)
	case Migrate, SetOwners, Release:
		o := h.Objects[i].DeepCopy()
		switch w.Op {
		case Migrate:
			o.SetManagedFields(w.Object.GetManagedFields())
		case Release:
			o.SetLabels(w.Object.GetLabels())
			o.SetAnnotations(w.Object.GetAnnotations())
			fallthrough
		default:
			o.SetOwnerReferences(w.Object.GetOwnerReferences())
		}
		h.Objects[i] = o
	case Delete:
		h.Objects = slices.Delete(h.Objects, i, i+1)
	}
}

// applied returns an object as it is after it was applied.
func (h *rehearsing) applied(revision string, o *unstructured.Unstructured) *unstructured.Unstructured {
	o = h.ready(revision, o)
	store(o)
	o.SetGeneration(max(o.GetGeneration(), 1))
	o.SetResourceVersion(h.next())
	o.SetManagedFields([]metav1.ManagedFieldsEntry{})
	h.Applied[o.GetUID()] = o.GetResourceVersion()
	return o
}

// store adds the storage version of a CRD to those in its status, as the API server does.
func store(o *unstructured.Unstructured) { // K226
	if gk := o.GroupVersionKind().GroupKind(); gk.Kind != "CustomResourceDefinition" || gk.Group != "apiextensions.k8s.io" {
		return
	}
	versions, _, _ := unstructured.NestedSlice(o.Object, "spec", "versions")
	stored, _, _ := unstructured.NestedStringSlice(o.Object, "status", "storedVersions")
	for _, v := range versions {
		v, _ := v.(map[string]any)
		name, _ := v["name"].(string)
		if storage, _ := v["storage"].(bool); storage && !slices.Contains(stored, name) {
			stored = append(stored, name)
		}
	}
	if len(stored) > 0 {
		_ = unstructured.SetNestedStringSlice(o.Object, stored, "status", "storedVersions") // a status that is not an object stays
	}
}

// Assume adds an object to a snapshot, as it is after a revision has applied it and it is ready.
func (s *Snapshot) Assume(r *Revision, o *unstructured.Unstructured) { // K240
	if s.Applied == nil {
		s.Applied = map[types.UID]string{}
	}
	o = newWorld(s).owned(r, o, nil)
	o.SetUID(types.UID("assumed-" + registryv1.Key(o)))
	h := &rehearsing{Snapshot: s}
	s.Objects = append(s.Objects, h.applied(r.Name, o))
}
