package operatorgroup

import "github.com/olmkit/olmkit/olm"

// The annotations of a member of a group, and of the group itself.
const (
	AnnotationGroup     = "olm.operatorGroup"
	annotationNamespace = olm.AnnotationOperatorNamespace
	// annotationGroupNamespace is the documented name of annotationNamespace.
	// OLM itself does not set it.
	annotationGroupNamespace = "olm.operatorGroupNamespace"
	AnnotationTargets        = "olm.targetNamespaces"
	AnnotationProvidedAPIs   = "olm.providedAPIs"
)

// Annotate returns a CSV with the annotations of a member of the group, and
// whether they changed. The targets are those in the group's status; while it
// has none, their annotation is left unchanged.
//
// annotationGroupNamespace is updated if it exists, but not added.
func Annotate(csv *olm.ClusterServiceVersion, g *olm.OperatorGroup) (*olm.ClusterServiceVersion, bool) { // F4
	out, changed := *csv, false
	annotate := func(key, value string) {
		if old, ok := out.Metadata.Annotations[key]; !ok || old != value {
			out.Metadata.SetAnnotation(key, value)
			changed = true
		}
	}
	annotate(AnnotationGroup, g.Metadata.Name)
	annotate(annotationNamespace, g.Metadata.Namespace)
	if _, ok := out.Metadata.Annotations[annotationGroupNamespace]; ok {
		annotate(annotationGroupNamespace, g.Metadata.Namespace)
	}
	if g.Status.Namespaces != nil {
		annotate(AnnotationTargets, joinTargets(g.Status.Namespaces))
	}
	if !changed {
		return csv, false
	}
	return &out, true
}
