package operatorgroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
)

// A CopyMode selects the CSVs to copy.
type CopyMode string

const (
	// CopyAll copies the CSVs of all groups. It is the default.
	CopyAll CopyMode = ""
	// CopyNone copies none. It is the documented meaning of disableCopiedCSVs
	// in OLMConfig.
	CopyNone CopyMode = "none"
	// CopyScoped copies the CSVs of groups that do not select all namespaces.
	// It is OLM's actual meaning of disableCopiedCSVs.
	CopyScoped CopyMode = "scoped"
)

// Annotations and labels that are not copied.
const (
	annotationLastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

// copyTo returns the copy of a CSV for a target namespace. It has the same name,
// labels, annotations, spec and status, with these differences: annotation
// olm.targetNamespaces is removed, so that tenants do not learn of each other;
// label olm.copiedFrom names the original's namespace; the status has reason
// Copied and a message with the operator's namespace.
func copyTo(csv *olm.ClusterServiceVersion, namespace string) *olm.ClusterServiceVersion {
	c := *csv
	c.Metadata = olm.Metadata{
		Name: csv.Metadata.Name, Namespace: namespace,
		Labels: maps.Clone(csv.Metadata.Labels), Annotations: maps.Clone(csv.Metadata.Annotations),
	}
	maps.DeleteFunc(c.Metadata.Labels, func(k, _ string) bool { return strings.HasPrefix(k, olm.LabelComponent) })
	maps.DeleteFunc(c.Metadata.Annotations, func(k, _ string) bool { return k == AnnotationTargets || k == annotationLastApplied })
	c.Metadata.SetLabel(olm.LabelCopiedFrom, csv.Metadata.Namespace)
	c.Status.Reason = reason.Copied
	// This is OLM's message, so the copies that OLM made stay as they are.
	c.Status.Message = fmt.Sprintf("The operator is running in %s but is managing this namespace", csv.Metadata.Namespace)
	return &c
}

// Copies returns the copies that an active member of a group should have, in
// order of namespace: one for each existing namespace that the group targets,
// except its own. There are none for a CSV that is itself a copy, is being
// deleted, failed because of its group, or has no phase yet.
func Copies(csv *olm.ClusterServiceVersion, g *olm.OperatorGroup, namespaces []*olm.Namespace, mode CopyMode) []*olm.ClusterServiceVersion { // F8
	if csv.Status.Phase == olm.PhaseNone || !IsActive(csv, g) || !mode.copies(g) {
		return nil
	}
	global := IsGlobal(g.Status.Namespaces)
	var list []*olm.ClusterServiceVersion
	for _, ns := range namespaces {
		name := ns.Metadata.Name
		if name == csv.Metadata.Namespace || ns.Metadata.IsDeleted() || !global && !slices.Contains(g.Status.Namespaces, name) {
			continue
		}
		list = append(list, copyTo(csv, name))
	}
	slices.SortFunc(list, func(a, b *olm.ClusterServiceVersion) int { return a.Key().Compare(b.Key()) })
	return list
}

func (m CopyMode) copies(g *olm.OperatorGroup) bool {
	return m == CopyAll || m == CopyScoped && !IsGlobal(g.Status.Namespaces)
}

// StaleCopy returns why a copied CSV should be deleted, or "": the original is
// gone, copying is disabled for its group, or the group no longer targets the
// copy's namespace. While the targets of the group are undecided, no copy is stale. Originals
// and groups must be complete.
func StaleCopy(c *olm.ClusterServiceVersion, originals []*olm.ClusterServiceVersion, groups []*olm.OperatorGroup, mode CopyMode) string {
	from := CopiedFrom(c)
	i := slices.IndexFunc(originals, func(o *olm.ClusterServiceVersion) bool {
		return o.Metadata.Name == c.Metadata.Name && o.Metadata.Namespace == from && !olm.IsCopied(o)
	})
	if i < 0 || originals[i].Metadata.IsDeleted() {
		return fmt.Sprintf("the original %s/%s is gone", from, c.Metadata.Name)
	}
	for _, g := range groups {
		switch {
		case g.Metadata.Namespace != from:
			continue
		case g.Status.Namespaces == nil:
			return "" // its targets are undecided
		case !IsActive(originals[i], g):
			continue
		}
		switch {
		case !mode.copies(g):
			return "copied CSVs are disabled"
		case IsGlobal(g.Status.Namespaces) || slices.Contains(g.Status.Namespaces, c.Metadata.Namespace):
			return ""
		}
		return fmt.Sprintf("operator group %s/%s does not target namespace %s", from, g.Metadata.Name, c.Metadata.Namespace)
	}
	return fmt.Sprintf("the original %s/%s is not an active member of an operator group", from, c.Metadata.Name)
}

// CopiedFrom returns the namespace of the CSV that c is a copy of.
func CopiedFrom(c *olm.ClusterServiceVersion) string {
	if ns, ok := c.Metadata.Labels[olm.LabelCopiedFrom]; ok {
		return ns
	}
	return c.Metadata.Annotations[annotationNamespace]
}
