package rollout

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	prefix             = "olm.operatorframework.io/"
	revisionAnnotation = prefix + "revision"
	managedBy          = "app.kubernetes.io/managed-by"
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

// claim returns what a revision may do with an object on the cluster.
func (w *world) claim(r *Revision, want, live *unstructured.Unstructured) claim { // K83
	if live == nil {
		return missing
	}
	number, _ := strconv.ParseInt(live.GetAnnotations()[revisionAnnotation], 10, 64)
	c := metav1.GetControllerOfNoCopy(live)
	switch {
	case c == nil:
		if r.Collision == Prevent || r.Collision == "" || number == r.Number {
			return foreign
		}
		return adoptable
	case c.UID == r.UID:
		return ours
	case slices.ContainsFunc(w.revisions, func(x *Revision) bool { return x.UID == c.UID }):
		switch {
		case number < r.Number:
			return adoptable
		case number > r.Number:
			return newer
		}
		return foreign
	case r.Collision == None:
		return adoptable
	}
	return foreign
}

// owned returns an object as the revision applies it. If it is on the cluster as live, its
// owners stay, but no longer control it.
func owned(r *Revision, want, live *unstructured.Unstructured) *unstructured.Unstructured { // K74, K84
	o := want.DeepCopy()
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[managedBy] = "olm.operatorframework.io"
	annotations[revisionAnnotation] = strconv.FormatInt(r.Number, 10)
	o.SetLabels(labels)
	o.SetAnnotations(annotations)
	yes, no := true, false
	var owners []metav1.OwnerReference
	if live != nil {
		o.SetUID(live.GetUID())
		o.SetResourceVersion(live.GetResourceVersion()) // K85
		for _, x := range live.GetOwnerReferences() {
			if x.UID == r.UID {
				continue
			}
			if x.Controller != nil && *x.Controller {
				x.Controller = &no
			}
			owners = append(owners, x)
		}
	}
	o.SetOwnerReferences(append(owners, metav1.OwnerReference{
		APIVersion: "olm.operatorframework.io/v1", Kind: "ClusterObjectSet", Name: r.Name, UID: r.UID, Controller: &yes, BlockOwnerDeletion: &yes,
	}))
	return o
}

func refers(o *unstructured.Unstructured, r *Revision) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(x metav1.OwnerReference) bool { return x.UID == r.UID })
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
