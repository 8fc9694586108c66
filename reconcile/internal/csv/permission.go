package csv

import (
	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// permissionRequirements returns a requirement for each service account of an operator, in
// order of first use, with a dependent for each rule. They state whether the account exists
// and has the permissions that the CSV requires. The status is reqUnknown if the necessary
// objects were not read.
func (p *planner) permissionRequirements(c *olm.ClusterServiceVersion) []olm.RequirementStatus {
	var list []olm.RequirementStatus
	find := func(account string) *olm.RequirementStatus {
		for i := range list {
			if list[i].Name == account {
				return &list[i]
			}
		}
		r := olm.RequirementStatus{Version: "v1", Kind: "ServiceAccount", Name: account, Status: reqPresent}
		switch {
		case account == "default":
		case !p.ReadsServiceAccount(account) && !p.IsRead(world.KindServiceAccount, account):
			r.Status = reqUnknown
		case !p.HasServiceAccount(account):
			r.Status, r.Message = reqNotPresent, "Service account does not exist"
		case p.isForeignAccount(c, account):
			r.Status, r.Message = reqNotSatisfied, "Service account is owned by another ClusterServiceVersion"
		}
		list = append(list, r)
		return &list[len(list)-1]
	}
	check := func(permissions []olm.Permissions, namespace, scope string) {
		for _, perm := range permissions {
			r := find(perm.ServiceAccountName)
			if r.Status != reqPresent && r.Dependents == nil {
				continue
			}
			granted := p.Granted(perm.ServiceAccountName, namespace)
			for _, rule := range perm.Rules {
				text, err := json.Marshal(rule)
				d := olm.DependentStatus{Group: olm.GroupRBAC, Version: "v1", Kind: "PolicyRule", Status: depSatisfied, Message: scope + " rule:" + string(text)}
				if err == nil && !world.Covers(granted, rule) && !p.KnowsGrants(perm.ServiceAccountName) {
					r.Status, r.Dependents = reqUnknown, nil
					break
				}
				if err != nil || !world.Covers(granted, rule) {
					d.Status = depNotSatisfied
					r.Status, r.Message = reqNotSatisfied, "Policy rule not satisfied for service account"
				}
				r.Dependents = append(r.Dependents, d)
			}
		}
	}
	check(c.Spec.Install.Spec.Permissions, p.Namespace, "namespaced")
	check(c.Spec.Install.Spec.ClusterPermissions, "", "cluster")
	return list
}

// isForeignAccount reports whether a service account of the namespace is owned by CSVs,
// but not by c or another version of the operator.
func (p *planner) isForeignAccount(c *olm.ClusterServiceVersion, name string) bool {
	o := p.Object(olm.Key{Group: world.KindServiceAccount.Group, Kind: world.KindServiceAccount.Kind, Namespace: p.Namespace, Name: name})
	if o == nil {
		return false
	}
	owned := false
	for _, r := range o.Metadata.OwnerReferences {
		if r.Kind != olm.KindClusterServiceVersion {
			continue
		}
		if other := p.CSV(r.Name); r.UID == c.Metadata.UID || other != nil && p.Related(c, other) {
			return false
		}
		owned = true
	}
	return owned
}
