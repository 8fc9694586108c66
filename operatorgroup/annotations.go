package operatorgroup

import "github.com/olmkit/olmkit/olm"

// The annotations of a member of a group (F4), and of the group itself (F5).
const (
	AnnotationGroup     = "olm.operatorGroup"
	AnnotationNamespace = olm.AnnotationOperatorNamespace
	// AnnotationGroupNamespace is the documented name of AnnotationNamespace.
	// OLM itself does not set it.
	AnnotationGroupNamespace = "olm.operatorGroupNamespace"
	AnnotationTargets        = "olm.targetNamespaces"
	AnnotationProvidedAPIs   = "olm.providedAPIs"
)

// Annotate returns a CSV with the annotations of a member of the group, and
// whether they changed. The targets are those in the group's status; while it
// has none, their annotation is left unchanged.
//
// AnnotationGroupNamespace is updated if it exists, but not added.
func Annotate(csv *olm.ClusterServiceVersion, g *olm.OperatorGroup) (*olm.ClusterServiceVersion, bool) {
	out, changed := *csv, false
	annotate := func(key, value string) {
		if old, ok := out.Metadata.Annotations[key]; !ok || old != value {
			out.Metadata.SetAnnotation(key, value)
			changed = true
		}
	}
	annotate(AnnotationGroup, g.Metadata.Name)
	annotate(AnnotationNamespace, g.Metadata.Namespace)
	if _, ok := out.Metadata.Annotations[AnnotationGroupNamespace]; ok {
		annotate(AnnotationGroupNamespace, g.Metadata.Namespace)
	}
	if g.Status.Namespaces != nil {
		annotate(AnnotationTargets, JoinTargets(g.Status.Namespaces))
	}
	if !changed {
		return csv, false
	}
	return &out, true
}
