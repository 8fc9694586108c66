package operatorgroup

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
)

// A level is a level of access to an API.
type level struct {
	name  string
	verbs []string
}

// levels are those that OLM documents.
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

// GroupRoles returns the ClusterRoles of a group: <group>-admin, <group>-edit
// and <group>-view, in this order. They have an aggregation rule that selects
// the roles of [APIRoles], and no other rules. The APIs are those that the
// group provides; only naming [Running] uses them, because it selects each API
// by a separate label.
func GroupRoles(g *olm.OperatorGroup, apis APIs, naming Naming) []*olm.Role { // F7
	var roles []*olm.Role
	for _, l := range levels {
		r := newRole("ClusterRole", "", naming.groupRole(g, l.name), ownerlabel.Of(g))
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

// APIRoles returns the ClusterRoles for users of the APIs that a member of the group provides:
// <kind>.<group>-<version>-admin, -edit and -view for each API, and for CRDs also
// <kind>.<group>-<version>-view-crdview, which lets users read the CRD. The documentation's
// <kind> is the plural name of the resource, so <kind>.<group> is the name of the CRD. CRDs
// come first, then APIServices, each in the order of the CSV.
//
// There are none for a copied CSV or a member that failed with
// InterOperatorGroupOwnerConflict. With naming [Running], the roles belong to the API, not to
// the CSV: their owner is the CRD or APIService, and the caller sets it.
func APIRoles(g *olm.OperatorGroup, csv *olm.ClusterServiceVersion, naming Naming) []*olm.Role { // F7
	if olm.IsCopied(csv) || csv.Status.Phase == olm.PhaseFailed && csv.Status.Reason == reason.InterOperatorGroupOwnerConflict {
		return nil
	}
	var roles []*olm.Role
	for _, api := range apiResources(csv, naming) {
		add := func(name string, l level, rule olm.PolicyRule) {
			labels := ownerlabel.Of(csv)
			if naming == Running {
				labels = map[string]string{ownerlabel.Managed: "true"}
			}
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

// IsForUsers reports whether labels are those of a role for the users of an API: a
// role that Kubernetes' own roles for users, such as edit and view, aggregate.
func IsForUsers(labels map[string]string) bool {
	for name := range labels {
		if strings.HasPrefix(name, rbacAggregateTo) {
			return true
		}
	}
	return false
}

// apiResources returns the APIs that a CSV owns, without CRDs with invalid
// names, which [OwnAPIs] reports.
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

// NameConflicts returns, for each name that several operator groups share, the sorted
// namespaces of these groups. With naming [Documented], such groups share their ClusterRoles.
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
