package reconcile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// A GroupKind names a kind of objects, in whatever version.
type GroupKind struct{ Group, Kind string }

// AllKinds in Snapshot.Known stands for every kind.
var AllKinds = GroupKind{"*", "*"}

// The kinds of which an absent object may mean that it was not read.
var (
	kindNamespace          = GroupKind{"", "Namespace"}
	kindServiceAccount     = GroupKind{"", "ServiceAccount"}
	kindRole               = GroupKind{olm.GroupRBAC, "Role"}
	kindRoleBinding        = GroupKind{olm.GroupRBAC, "RoleBinding"}
	kindClusterRole        = GroupKind{olm.GroupRBAC, "ClusterRole"}
	kindClusterRoleBinding = GroupKind{olm.GroupRBAC, "ClusterRoleBinding"}
	kindDeployment         = GroupKind{"apps", "Deployment"}
	kindCRD                = GroupKind{olm.GroupCRD, olm.KindCRD}
	kindAPIService         = GroupKind{"apiregistration.k8s.io", "APIService"}
	kindOperatorCondition  = GroupKind{olm.Group, olm.KindOperatorCondition}
	kindService            = GroupKind{"", "Service"}
	kindSecret             = GroupKind{"", "Secret"}
	kindValidatingWebhook  = GroupKind{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"}
	kindMutatingWebhook    = GroupKind{"admissionregistration.k8s.io", "MutatingWebhookConfiguration"}
)

// PlannedKinds returns the kinds that a plan looks up in addition to custom
// resources, in order: what an implementation of [Cluster] reads.
func PlannedKinds() []GroupKind {
	return []GroupKind{
		kindNamespace, kindServiceAccount, kindCRD, kindAPIService, kindDeployment, kindOperatorCondition,
		kindClusterRole, kindClusterRoleBinding, kindRole, kindRoleBinding,
		kindService, kindSecret, kindValidatingWebhook, kindMutatingWebhook,
	}
}

// knows reports whether the snapshot has all objects of a kind that concern the
// namespace.
func (s *Snapshot) knows(k GroupKind) bool {
	if s.Known == nil {
		return slices.Contains(PlannedKinds(), k)
	}
	return slices.Contains(s.Known, k) || slices.Contains(s.Known, AllKinds)
}

// known reports whether an object of the cluster that the snapshot does not have
// is absent. If that is unknown, it is recorded for [planner.noteUnknown].
func (p *planner) known(k GroupKind, name string) bool {
	if p.knows(k) || !slices.Contains(PlannedKinds(), k) {
		return true
	}
	if p.unknown[k] == nil {
		p.unknown[k] = map[string]bool{}
	}
	p.unknown[k][name] = true
	return false
}

// maxNamed is how many objects a message names; it counts the others.
const maxNamed = 3

// bounded returns the first names of a list, and how many more there are.
func bounded(names []string) string {
	if n := len(names) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), n)
	}
	return list(names)
}

// noteUnknown names the CSVs whose minKubeVersion was not judged and, in one
// note, the kinds whose objects were looked up and not read.
func (p *planner) noteUnknown() {
	for _, k := range slices.SortedFunc(maps.Keys(p.unjudged), olm.Key.Compare) {
		p.note(k, "its minKubeVersion %s was not checked: the version of the cluster is unknown", p.unjudged[k])
	}
	kinds := slices.SortedFunc(maps.Keys(p.unknown), func(a, b GroupKind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	})
	if len(kinds) == 0 {
		return
	}
	parts := make([]string, len(kinds))
	for i, k := range kinds {
		parts[i] = fmt.Sprintf("%s (%s)", k.Kind, bounded(slices.Sorted(maps.Keys(p.unknown[k]))))
	}
	p.note(olm.Key{Kind: "Namespace", Name: p.Namespace}, "unknown, because no objects of these kinds were read: %s; what depends on them is assumed to match its status", list(parts))
}
