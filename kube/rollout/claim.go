package rollout

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	prefix             = "olm.operatorframework.io/"
	revisionAnnotation = prefix + "revision"
	managedBy          = "app.kubernetes.io/managed-by"
	groupVersion       = prefix + "v1"
)

// A claim states what a revision may do with an object of its name.
type claim int

const (
	missing   claim = iota // it does not exist
	ours                   // the revision controls it
	adoptable              // the revision may adopt it
	newer                  // a later revision has it
	foreign                // it collides
)

// protection returns the protection of the object at a place in the phases.
func (r *Revision) protection(phase, object int) Collision { // K81
	if r.Collisions != nil && r.Collisions[phase][object] != "" {
		return r.Collisions[phase][object]
	}
	return r.Collision
}

// claim returns what a revision may do with an object on the cluster.
func (w *world) claim(r *Revision, protection Collision, live *unstructured.Unstructured) claim { // K83
	if live == nil {
		return missing
	}
	number, _ := strconv.ParseInt(live.GetAnnotations()[revisionAnnotation], 10, 64)
	c := metav1.GetControllerOfNoCopy(live)
	switch {
	case c == nil:
		if protection == Prevent || protection == "" || number == r.Number {
			return foreign
		}
		return adoptable
	case w.controls(r, live):
		return ours
	case slices.ContainsFunc(w.revisions, func(x *Revision) bool { return w.controller(x).UID == c.UID }):
		switch {
		case number == r.Number:
			return foreign
		case number > r.Number && slices.ContainsFunc(w.revisions, func(x *Revision) bool { return x.Number == number }):
			return newer
		}
		return adoptable // also from a revision that is lost
	case protection == None:
		return adoptable
	}
	return foreign
}

// reference returns an owner reference to a revision.
func (w *world) reference(r *Revision) metav1.OwnerReference {
	yes := true
	ref := metav1.OwnerReference{APIVersion: groupVersion, Kind: "ClusterObjectSet", Name: r.Name, UID: r.UID, Controller: &yes, BlockOwnerDeletion: &yes}
	if w.snapshot.Recorded {
		ref.APIVersion, ref.Kind = "v1", "Secret"
	}
	return ref
}

// controller returns the owner reference of the objects of a revision. A Secret cannot own
// objects of other namespaces.
func (w *world) controller(r *Revision) metav1.OwnerReference { // K84
	ref := w.reference(r)
	if w.snapshot.Recorded {
		e := w.snapshot.Extension
		ref.APIVersion, ref.Kind, ref.Name, ref.UID = groupVersion, "ClusterExtension", e.Name, e.UID
	}
	return ref
}

// controls returns whether a revision controls an object. What a Helm release has installed is
// controlled by the extension and has no number.
func (w *world) controls(r *Revision, live *unstructured.Unstructured) bool {
	c, number := metav1.GetControllerOfNoCopy(live), live.GetAnnotations()[revisionAnnotation]
	switch {
	case c == nil:
		return false
	case r.Migrated && number == "" && c.UID == w.snapshot.Extension.UID: // K77
		return true
	}
	return c.UID == w.controller(r).UID && (!w.snapshot.Recorded || number == strconv.FormatInt(r.Number, 10))
}

// owned returns an object as the revision applies it. If it is on the cluster as live, its
// owners stay, but no longer control it.
func (w *world) owned(r *Revision, want, live *unstructured.Unstructured) *unstructured.Unstructured { // K74, K84
	o := want.DeepCopy()
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[managedBy] = "olm.operatorframework.io"
	labels[prefix+"owner-name"] = r.Owner // also if it has none: the caller watches this label
	annotations[revisionAnnotation] = strconv.FormatInt(r.Number, 10)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
	no, ref := false, w.controller(r)
	var owners []metav1.OwnerReference
	if live != nil {
		o.SetUID(live.GetUID())
		o.SetResourceVersion(live.GetResourceVersion()) // K85
		for _, x := range live.GetOwnerReferences() {
			if x.UID == ref.UID {
				continue
			}
			if x.Controller != nil && *x.Controller {
				x.Controller = &no
			}
			owners = append(owners, x)
		}
	}
	o.SetOwnerReferences(append(owners, ref))
	return o
}

// refers returns whether an object belongs to a revision, or has belonged to it.
func (w *world) refers(o *unstructured.Unstructured, r *Revision) bool {
	return w.controls(r, o) || !w.snapshot.Recorded && slices.ContainsFunc(o.GetOwnerReferences(), func(x metav1.OwnerReference) bool { return x.UID == r.UID })
}

// identity returns an object without its content.
func identity(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(o.GroupVersionKind())
	out.SetNamespace(o.GetNamespace())
	out.SetName(o.GetName())
	out.SetUID(o.GetUID())
	out.SetResourceVersion(o.GetResourceVersion())
	return out
}

// released returns the owner references of an object without the revision.
func released(r *Revision, live *unstructured.Unstructured) *unstructured.Unstructured {
	o := identity(live)
	o.SetOwnerReferences(slices.DeleteFunc(live.GetOwnerReferences(), func(x metav1.OwnerReference) bool { return x.UID == r.UID }))
	return o
}

// marked returns whether an object without a controller has the labels and the number of a
// revision: the garbage collector removes the owner references of orphans.
func marked(r *Revision, live *unstructured.Unstructured) bool {
	return metav1.GetControllerOfNoCopy(live) == nil && live.GetLabels()[prefix+"owner-name"] == r.Owner &&
		live.GetAnnotations()[revisionAnnotation] == strconv.FormatInt(r.Number, 10)
}

// orphaned returns the metadata of an object without what the revision has added.
func (w *world) orphaned(r *Revision, live *unstructured.Unstructured) *unstructured.Unstructured { // K94
	o := identity(live)
	labels, annotations := live.GetLabels(), live.GetAnnotations() // copies
	added := func(name, _ string) bool { return name == managedBy || strings.HasPrefix(name, prefix) }
	maps.DeleteFunc(labels, added)
	maps.DeleteFunc(annotations, added)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
	uid := w.controller(r).UID
	o.SetOwnerReferences(slices.DeleteFunc(live.GetOwnerReferences(), func(x metav1.OwnerReference) bool { return x.UID == uid }))
	return o
}
