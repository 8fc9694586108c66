package reconcile

import (
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
)

// Unserved returns the CRDs whose conversion webhook was that of an operator in the
// namespace of a snapshot and that no operator serves any longer. The webhook is removed
// once there are no custom resources that would lose data without it, which must
// therefore be read.
func Unserved(s *Snapshot) []*olm.CustomResourceDefinition {
	var list []*olm.CustomResourceDefinition
	for _, d := range s.CRDs {
		if serving.IsUnserved(d, s.Namespace, s.CSVs) {
			list = append(list, d)
		}
	}
	return list
}

// ChangesCRD reports whether a step of an install plan changes an existing CRD, given the object
// of the step. If so, a snapshot needs the custom resources, which are checked before.
func ChangesCRD(have *olm.CustomResourceDefinition, step olm.Object) bool { // E7
	step.Metadata.Namespace = ""
	step.Metadata.SetLabel(ownerlabel.Managed, "true")
	return crd.Changes(have, step)
}

// Owned returns the keys of the objects that a CSV brings to a cluster, in order: those
// created for it, and the CRDs that its conversion webhooks serve. Webhook configurations
// have generated names; their keys have the prefix.
func Owned(csv *olm.ClusterServiceVersion) ([]olm.Key, error) {
	ns := csv.Metadata.Namespace
	var keys []olm.Key
	add := func(k olm.Key) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, d := range csv.Spec.Install.Spec.Deployments {
		add(olm.Key{Group: "apps", Kind: "Deployment", Namespace: ns, Name: d.Name})
	}
	for _, d := range csv.Spec.CRDs.Owned {
		add(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: d.Name})
	}
	for _, d := range csv.Spec.APIServices.Owned {
		add(olm.Key{Group: "apiregistration.k8s.io", Kind: "APIService", Name: d.Version + "." + d.Group})
	}
	for _, w := range csv.Spec.Webhooks {
		switch w.Type {
		case "ValidatingAdmissionWebhook":
			add(olm.Key{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", Name: w.GenerateName})
		case "MutatingAdmissionWebhook":
			add(olm.Key{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration", Name: w.GenerateName})
		case "ConversionWebhook":
			for _, name := range w.ConversionCRDs {
				add(olm.Key{Group: olm.GroupCRD, Kind: olm.KindCRD, Name: name})
			}
		}
	}
	rbac, err := operatorgroup.Permissions(csv)
	if err != nil {
		return nil, err
	}
	for _, name := range rbac.ServiceAccounts {
		add(olm.Key{Kind: "ServiceAccount", Namespace: ns, Name: name})
	}
	for _, r := range slices.Concat(rbac.Roles, rbac.ClusterRoles) {
		add(r.Key())
	}
	for _, k := range serving.Keys(csv) {
		add(k)
	}
	bindings, err := serving.Bindings(csv)
	if err != nil {
		return nil, err
	}
	for _, b := range slices.Concat(rbac.RoleBindings, rbac.ClusterRoleBindings, bindings) {
		add(b.Key())
	}
	return keys, nil
}
