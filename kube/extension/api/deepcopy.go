package api

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// ptr returns a pointer to a copy of what p points to.
func ptr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func conditions(list []metav1.Condition) []metav1.Condition {
	return slices.Clone(list) // elements contain no pointers
}

// DeepCopy returns a copy that shares nothing with e.
func (e *ClusterExtension) DeepCopy() *ClusterExtension {
	if e == nil {
		return nil
	}
	out := *e
	out.ObjectMeta = *e.ObjectMeta.DeepCopy()
	if c := ptr(e.Spec.Source.Catalog); c != nil {
		c.Channels, c.Selector = slices.Clone(c.Channels), c.Selector.DeepCopy()
		out.Spec.Source.Catalog = c
	}
	if i := ptr(e.Spec.Install); i != nil {
		if i.Preflight = ptr(i.Preflight); i.Preflight != nil {
			i.Preflight.CRDUpgradeSafety = ptr(i.Preflight.CRDUpgradeSafety)
		}
		out.Spec.Install = i
	}
	if c := ptr(e.Spec.Config); c != nil {
		c.Inline = c.Inline.DeepCopy()
		out.Spec.Config = c
	}
	out.Status.Conditions = conditions(e.Status.Conditions)
	out.Status.Install = ptr(e.Status.Install)
	out.Status.ActiveRevisions = slices.Clone(e.Status.ActiveRevisions)
	for i := range out.Status.ActiveRevisions {
		r := &out.Status.ActiveRevisions[i]
		r.Conditions = conditions(r.Conditions)
	}
	return &out
}

// DeepCopyObject implements runtime.Object.
func (e *ClusterExtension) DeepCopyObject() runtime.Object { return e.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (l *ClusterExtensionList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta, out.Items = *l.ListMeta.DeepCopy(), items(l.Items)
	return &out
}

// DeepCopy returns a copy that shares nothing with c.
func (c *ClusterCatalog) DeepCopy() *ClusterCatalog {
	if c == nil {
		return nil
	}
	out := *c
	out.ObjectMeta = *c.ObjectMeta.DeepCopy()
	if i := ptr(c.Spec.Source.Image); i != nil {
		i.PollIntervalMinutes = ptr(i.PollIntervalMinutes)
		out.Spec.Source.Image = i
	}
	out.Status.Conditions = conditions(c.Status.Conditions)
	if r := ptr(c.Status.ResolvedSource); r != nil {
		r.Image = ptr(r.Image)
		out.Status.ResolvedSource = r
	}
	out.Status.URLs = ptr(c.Status.URLs)
	out.Status.LastUnpacked = c.Status.LastUnpacked.DeepCopy()
	return &out
}

// DeepCopyObject implements runtime.Object.
func (c *ClusterCatalog) DeepCopyObject() runtime.Object { return c.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (l *ClusterCatalogList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta, out.Items = *l.ListMeta.DeepCopy(), items(l.Items)
	return &out
}

// DeepCopy returns a copy that shares nothing with s.
func (s *ClusterObjectSet) DeepCopy() *ClusterObjectSet {
	if s == nil {
		return nil
	}
	out := *s
	out.ObjectMeta = *s.ObjectMeta.DeepCopy()
	out.Spec.Phases = slices.Clone(s.Spec.Phases)
	for i := range out.Spec.Phases {
		p := &out.Spec.Phases[i]
		p.Objects = slices.Clone(p.Objects)
		for n := range p.Objects {
			o := &p.Objects[n]
			o.Object, o.Ref = o.Object.DeepCopy(), ptr(o.Ref)
		}
	}
	out.Spec.ProgressionProbes = slices.Clone(s.Spec.ProgressionProbes)
	for i := range out.Spec.ProgressionProbes {
		p := &out.Spec.ProgressionProbes[i]
		p.Selector.GroupKind, p.Selector.Label = ptr(p.Selector.GroupKind), p.Selector.Label.DeepCopy()
		p.Assertions = slices.Clone(p.Assertions)
		for n := range p.Assertions {
			a := &p.Assertions[n]
			a.ConditionEqual, a.FieldsEqual, a.FieldValue = ptr(a.ConditionEqual), ptr(a.FieldsEqual), ptr(a.FieldValue)
		}
	}
	out.Status.Conditions = conditions(s.Status.Conditions)
	out.Status.ObservedPhases = slices.Clone(s.Status.ObservedPhases)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (s *ClusterObjectSet) DeepCopyObject() runtime.Object { return s.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (l *ClusterObjectSetList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta, out.Items = *l.ListMeta.DeepCopy(), items(l.Items)
	return &out
}

// items returns copies of the items of a list.
func items[T any, P interface {
	*T
	DeepCopy() *T
}](list []T) []T {
	out := slices.Clone(list)
	for i := range out {
		out[i] = *P(&list[i]).DeepCopy()
	}
	return out
}
