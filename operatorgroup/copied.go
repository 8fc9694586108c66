package operatorgroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// A CopyMode says which CSVs are copied.
type CopyMode string

const (
	// CopyAll copies the CSVs of all groups. It is the default.
	CopyAll CopyMode = ""
	// CopyNone copies none: OLMConfig's disableCopiedCSVs as 001 describes it.
	CopyNone CopyMode = "none"
	// CopyScoped copies the CSVs of groups that do not select all namespaces:
	// disableCopiedCSVs as the running OLM means it.
	CopyScoped CopyMode = "scoped"
)

// Annotations and labels that are the original's own affair.
const (
	annotationLastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	labelComponentPrefix  = "operators.coreos.com/"
)

// Copy returns the copy of a CSV for a target namespace (F8): the same name,
// labels, annotations, spec and status, with these differences. The annotation
// olm.targetNamespaces is left out, so that tenants do not learn of each other
// (F4); the label olm.copiedFrom names the original's namespace; the status has
// the reason Copied and a message that says where the operator runs.
func Copy(csv *olm.ClusterServiceVersion, namespace string) *olm.ClusterServiceVersion {
	c := *csv
	c.Metadata = olm.Metadata{
		Name: csv.Metadata.Name, Namespace: namespace,
		Labels: maps.Clone(csv.Metadata.Labels), Annotations: maps.Clone(csv.Metadata.Annotations),
	}
	maps.DeleteFunc(c.Metadata.Labels, func(k, _ string) bool { return strings.HasPrefix(k, labelComponentPrefix) })
	maps.DeleteFunc(c.Metadata.Annotations, func(k, _ string) bool { return k == AnnotationTargets || k == annotationLastApplied })
	c.Metadata.SetLabel(olm.LabelCopiedFrom, csv.Metadata.Namespace)
	c.Status.Reason = olm.ReasonCopied
	c.Status.Message = fmt.Sprintf("the operator runs in namespace %s and serves this namespace, too", csv.Metadata.Namespace)
	return &c
}

// Copies returns the copies that an active member of a group should have, one
// for each existing namespace that the group targets, but its own (F8), in
// order of namespace. A CSV that is a copy, is being deleted, failed because of
// its group or was not yet looked at (without a phase) has none.
func Copies(csv *olm.ClusterServiceVersion, g *olm.OperatorGroup, namespaces []*olm.Namespace, mode CopyMode) []*olm.ClusterServiceVersion {
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
		list = append(list, Copy(csv, name))
	}
	slices.SortFunc(list, func(a, b *olm.ClusterServiceVersion) int { return a.Key().Compare(b.Key()) })
	return list
}

func (m CopyMode) copies(g *olm.OperatorGroup) bool {
	return m == CopyAll || m == CopyScoped && !IsGlobal(g.Status.Namespaces)
}

// StaleCopy returns why a copied CSV should be deleted, or nothing (F8): the
// original is gone, copying is switched off for its group, or the group no
// longer targets the copy's namespace. Given are all originals and groups.
func StaleCopy(c *olm.ClusterServiceVersion, originals []*olm.ClusterServiceVersion, groups []*olm.OperatorGroup, mode CopyMode) string {
	from := CopiedFrom(c)
	i := slices.IndexFunc(originals, func(o *olm.ClusterServiceVersion) bool {
		return o.Metadata.Name == c.Metadata.Name && o.Metadata.Namespace == from && !o.IsCopied()
	})
	if i < 0 || originals[i].Metadata.IsDeleted() {
		return fmt.Sprintf("the original %s/%s is gone", from, c.Metadata.Name)
	}
	for _, g := range groups {
		if g.Metadata.Namespace != from || !IsActive(originals[i], g) {
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
	return fmt.Sprintf("the original %s/%s is no active member of an operator group", from, c.Metadata.Name)
}

// CopiedFrom returns the namespace of a copy's original.
func CopiedFrom(c *olm.ClusterServiceVersion) string {
	if ns, ok := c.Metadata.Labels[olm.LabelCopiedFrom]; ok {
		return ns
	}
	return c.Metadata.Annotations[AnnotationNamespace]
}
