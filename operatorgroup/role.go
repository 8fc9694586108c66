package operatorgroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// A level is what a user of an API may do.
type level struct {
	name  string
	verbs []string
}

// levels are those of tables 2.5 and 2.6 of 000.
var levels = []level{
	{"admin", []string{"*"}},
	{"edit", []string{"create", "update", "patch", "delete"}},
	{"view", []string{"get", "list", "watch"}},
}

const rbacAggregateTo = "rbac.authorization.k8s.io/aggregate-to-"

func newRole(kind, namespace, name string, labels map[string]string) *olm.Role {
	return &olm.Role{Header: olm.Header{
		APIVersion: olm.RBACV1, Kind: kind,
		Metadata: olm.Metadata{Name: name, Namespace: namespace, Labels: labels},
	}}
}

// GroupRoles returns the three ClusterRoles of a group (F7; 000, 2.3.6):
// <group>-admin, <group>-edit and <group>-view, in this order. They have no
// rules of their own but an aggregation rule that collects those of the roles
// that [APIRoles] returns. The APIs are those that the group provides; only the
// naming [Running] needs them, which selects each by a label of its own.
func GroupRoles(g *olm.OperatorGroup, apis APIs, naming Naming) []*olm.Role {
	var roles []*olm.Role
	for _, l := range levels {
		r := newRole("ClusterRole", "", naming.groupRole(g, l.name), OwnerLabels(g))
		selected := map[string]string{}
		if naming == Documented {
			apis = APIs{{}} // one label, whatever the API
		}
		for _, api := range apis {
			key, value := naming.label(g, api, l.name)
			selected[key] = value
		}
		var selectors []olm.LabelSelector
		for _, key := range slices.Sorted(maps.Keys(selected)) {
			selectors = append(selectors, olm.LabelSelector{MatchLabels: map[string]string{key: selected[key]}})
		}
		if selectors != nil {
			r.AggregationRule = &olm.AggregationRule{ClusterRoleSelectors: selectors}
		}
		roles = append(roles, r)
	}
	return roles
}

// APIRoles returns the ClusterRoles for the users of the APIs that a member of
// the group provides (F7; 000, tables 2.5 and 2.6): for each API
// <kind>.<group>-<version>-admin, -edit and -view, and for that of a CRD
// <kind>.<group>-<version>-view-crdview, which lets users read the CRD. CRDs
// come first, each kind in the order of the CSV. What 000 calls <kind> is the
// plural by which RBAC knows the resource, so that <kind>.<group> is the name
// of the CRD.
//
// A member that failed with InterOperatorGroupOwnerConflict gets none, nor does
// a copied CSV.
func APIRoles(g *olm.OperatorGroup, csv *olm.ClusterServiceVersion, naming Naming) []*olm.Role {
	if csv.IsCopied() || csv.Status.Phase == olm.PhaseFailed && csv.Status.Reason == olm.ReasonInterOperatorGroupOwnerConflict {
		return nil
	}
	var roles []*olm.Role
	for _, api := range apiResources(csv, naming) {
		add := func(name string, l level, rule olm.PolicyRule) {
			labels := OwnerLabels(csv)
			labels[rbacAggregateTo+l.name] = "true"
			key, value := naming.label(g, api.GVK, l.name)
			labels[key] = value
			r := newRole("ClusterRole", "", name, labels)
			r.Rules = []olm.PolicyRule{rule}
			roles = append(roles, r)
		}
		for _, l := range levels {
			add(api.prefix+"-"+l.name, l, olm.PolicyRule{Verbs: l.verbs, APIGroups: []string{api.Group}, Resources: []string{api.plural}})
		}
		if api.crd != "" {
			name := api.prefix + "-view-crdview"
			if naming == Running {
				name = api.prefix + "-crdview"
			}
			add(name, levels[2], olm.PolicyRule{
				Verbs: []string{"get"}, APIGroups: []string{"apiextensions.k8s.io"},
				Resources: []string{"customresourcedefinitions"}, ResourceNames: []string{api.crd},
			})
		}
	}
	return roles
}

// apiResources returns the APIs that a CSV owns, without those whose CRD has no
// readable name, which [OwnAPIs] reports.
func apiResources(csv *olm.ClusterServiceVersion, naming Naming) []apiResource {
	var list []apiResource
	for _, d := range csv.Spec.CRDs.Owned {
		plural, group, ok := strings.Cut(d.Name, ".")
		if !ok {
			continue
		}
		list = append(list, apiResource{
			GVK: property.GVK{Group: group, Version: d.Version, Kind: d.Kind}, plural: plural,
			prefix: d.Name + "-" + d.Version, crd: d.Name,
		})
	}
	for _, d := range csv.Spec.APIServices.Owned {
		prefix := fmt.Sprintf("%s.%s-%s", d.Name, d.Group, d.Version)
		if naming == Running {
			prefix = d.Name + "-" + d.Version
		}
		list = append(list, apiResource{
			GVK: property.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind}, plural: d.Name, prefix: prefix,
		})
	}
	return list
}

// NameConflicts returns the operator groups of a cluster that share a name, by
// which their documented ClusterRoles are the same object (001, 2.4.5.3): the
// namespaces, sorted, per name.
func NameConflicts(groups []*olm.OperatorGroup) map[string][]string {
	byName := map[string][]string{}
	for _, g := range groups {
		byName[g.Metadata.Name] = append(byName[g.Metadata.Name], g.Metadata.Namespace)
	}
	for name, namespaces := range byName {
		if len(namespaces) < 2 {
			delete(byName, name)
			continue
		}
		slices.Sort(namespaces)
	}
	return byName
}
