package world

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
)

// HasServiceAccount reports whether the namespace has a service account. If service
// accounts were not read, it has one unless its group reports that it is missing.
func (w *World) HasServiceAccount(name string) bool {
	if w.ReadsServiceAccount(name) || w.IsRead(KindServiceAccount, name) {
		return w.Object(serviceAccountKey(w.Namespace, name)) != nil
	}
	return !slices.ContainsFunc(w.Groups(), func(g *olm.OperatorGroup) bool {
		_, missing := olm.FindCondition(g.Status.Conditions, "OperatorGroupServiceAccount")
		return missing && g.Spec.ServiceAccountName == name
	})
}

// ReadsServiceAccount reports whether it is known if the namespace has a service account.
func (w *World) ReadsServiceAccount(account string) bool {
	return w.Knows(KindServiceAccount) || w.Object(serviceAccountKey(w.Namespace, account)) != nil
}

func serviceAccountKey(namespace, name string) olm.Key {
	return olm.Key{Kind: "ServiceAccount", Namespace: namespace, Name: name}
}

// FailForward reports whether failed operators may be replaced (E10).
func (w *World) FailForward() bool {
	gs := w.Groups()
	return len(gs) == 1 && gs[0].Spec.UpgradeStrategy == olm.UpgradeFailForward
}

// Targets returns the target namespaces of an operator group: those of its spec, which the cluster adopts before
// anything else, or those of its status if labels select them. There are none before the group has a status.
func (w *World) Targets(g *olm.OperatorGroup) []string { // F1
	if targets, err := operatorgroup.Targets(g, nil); err == nil && len(g.Status.Namespaces) > 0 && (len(g.Spec.TargetNamespaces) > 0 || g.Spec.Selector == nil) {
		return targets
	}
	return g.Status.Namespaces
}
