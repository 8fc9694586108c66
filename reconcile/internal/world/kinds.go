package world

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// AllKinds means every kind in Snapshot.Known.
var AllKinds = olm.GroupKind{Group: "*", Kind: "*"}

// The kinds that a snapshot may not contain completely.
var (
	KindNamespace          = olm.GroupKind{Group: "", Kind: "Namespace"}
	KindServiceAccount     = olm.GroupKind{Group: "", Kind: "ServiceAccount"}
	KindRole               = olm.GroupKind{Group: olm.GroupRBAC, Kind: "Role"}
	KindRoleBinding        = olm.GroupKind{Group: olm.GroupRBAC, Kind: "RoleBinding"}
	KindClusterRole        = olm.GroupKind{Group: olm.GroupRBAC, Kind: "ClusterRole"}
	KindClusterRoleBinding = olm.GroupKind{Group: olm.GroupRBAC, Kind: "ClusterRoleBinding"}
	KindDeployment         = olm.GroupKind{Group: "apps", Kind: "Deployment"}
	KindCRD                = olm.GroupKind{Group: olm.GroupCRD, Kind: olm.KindCRD}
	KindAPIService         = olm.GroupKind{Group: "apiregistration.k8s.io", Kind: "APIService"}
	KindOperatorCondition  = olm.GroupKind{Group: olm.Group, Kind: olm.KindOperatorCondition}
	KindOperator           = olm.GroupKind{Group: olm.Group, Kind: olm.KindOperator}
	KindService            = olm.GroupKind{Group: "", Kind: "Service"}
	KindSecret             = olm.GroupKind{Group: "", Kind: "Secret"}
	KindValidatingWebhook  = olm.GroupKind{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}
	KindMutatingWebhook    = olm.GroupKind{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}
)

// PlannedKinds returns the kinds that a plan looks up in addition to custom
// resources, in order. An implementation of reconcile.Cluster reads them.
func PlannedKinds() []olm.GroupKind {
	return []olm.GroupKind{
		KindNamespace, KindServiceAccount, KindCRD, KindAPIService, KindDeployment, KindOperatorCondition,
		KindClusterRole, KindClusterRoleBinding, KindRole, KindRoleBinding,
		KindService, KindSecret, KindValidatingWebhook, KindMutatingWebhook, KindOperator,
	}
}

// Knows reports whether the snapshot has all objects of a kind that concern the
// namespace.
func (w *World) Knows(k olm.GroupKind) bool {
	if w.State.Known == nil {
		return slices.Contains(PlannedKinds(), k)
	}
	return slices.Contains(w.State.Known, k) || slices.Contains(w.State.Known, AllKinds)
}

// KnowsGroups reports whether the snapshot has all operator groups of the namespace.
func (w *World) KnowsGroups() bool {
	return w.State.Known == nil || w.Knows(olm.GroupKind{Group: olm.Group, Kind: olm.KindOperatorGroup})
}

// IsRead reports whether a missing object is known not to exist. If this is unknown, it
// records the name of the object for Unread.
func (w *World) IsRead(k olm.GroupKind, name string) bool {
	if w.Knows(k) || !slices.Contains(PlannedKinds(), k) {
		return true
	}
	if w.unread[k] == nil {
		w.unread[k] = map[string]bool{}
	}
	w.unread[k][name] = true
	return false
}

// Unread returns the names of objects that were looked up although their kinds
// were not read.
func (w *World) Unread() map[olm.GroupKind]map[string]bool { return w.unread }
