package kube

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Rules returns the cluster-wide permissions that a [Reconciler] needs. Three
// verbs are powerful but necessary. Escalate and bind are needed because the
// reconciler grants operators permissions that it does not have. Impersonate is
// needed because install plans are executed as the service account of their
// operator group.
//
// Secrets can be read by name but not listed: bundles may contain them, and
// they hold the certificates of webhooks. content.Secrets reads the pull secrets
// of catalogs with the same permission.
//
// Custom resources of operators cannot be read, so upgrades of CRDs do not check them.
// Grant that permission too to have them checked; see rule [E7].
//
// [E7]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#e7
func Rules() []rbacv1.PolicyRule {
	const olmGroup = "operators.coreos.com"
	rule := func(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	var rules []rbacv1.PolicyRule
	// The contents of snapshots.
	for _, k := range kinds() {
		verbs := []string{"get", "list", "watch"}
		switch k.group() {
		case kindOLMConfig.group():
			verbs = verbs[1:] // not "get": they are never changed, and changes do not depend on them
		}
		if n := len(rules); n > 0 && rules[n-1].APIGroups[0] == k.gvk.Group && len(rules[n-1].Verbs) == len(verbs) {
			rules[n-1].Resources = append(rules[n-1].Resources, k.plural)
			continue
		}
		rules = append(rules, rule(k.gvk.Group, []string{k.plural}, verbs...))
	}
	return append(rules,
		// OLM's own resources.
		rule(olmGroup, []string{"subscriptions", "operatorconditions"}, "create", "update"),
		rule(olmGroup, []string{"installplans", "clusterserviceversions"}, "create", "update", "delete"),
		rule(olmGroup, []string{"operators"}, "create"),
		rule(olmGroup, []string{"operatorgroups", "catalogsources"}, "update"),
		rule(olmGroup, []string{
			"subscriptions/status", "installplans/status", "clusterserviceversions/status",
			"operatorconditions/status", "operatorgroups/status", "operators/status", "catalogsources/status", "olmconfigs/status",
		}, "update"),
		rule(olmGroup, []string{"catalogsources/status"}, "patch"),
		// The objects that run operators.
		rule("apps", []string{"deployments"}, "create", "update", "delete"),
		rule("apiextensions.k8s.io", []string{"customresourcedefinitions"}, "create", "update"),
		// What the webhooks and aggregated APIs of operators need.
		rule(kindValidatingWebhook.gvk.Group, []string{kindValidatingWebhook.plural, kindMutatingWebhook.plural}, "create", "update", "delete"),
		rule(kindAPIService.gvk.Group, []string{kindAPIService.plural}, "create", "update", "delete"),
		rule("", []string{"namespaces"}, "update"), // labels by which webhooks select them
		rule("", []string{"serviceaccounts"}, "create", "update", "impersonate"),
		rule(rbacv1.GroupName, []string{"roles", "clusterroles"}, "create", "update", "delete", "escalate", "bind"),
		rule(rbacv1.GroupName, []string{"rolebindings", "clusterrolebindings"}, "create", "update", "delete"),
		// The other objects that bundles may contain.
		rule("", []string{"services", "configmaps", "secrets"}, "get", "create", "update"),
		rule("policy", []string{"poddisruptionbudgets"}, "get", "create", "update"),
		rule("networking.k8s.io", []string{"networkpolicies"}, "get", "create", "update"),
		rule("scheduling.k8s.io", []string{"priorityclasses"}, "get", "create", "update"),
		rule("monitoring.coreos.com", []string{"servicemonitors", "prometheusrules"}, "get", "create", "update"),
		rule("autoscaling.k8s.io", []string{"verticalpodautoscalers"}, "get", "create", "update"),
		rule("console.openshift.io", []string{"consoleclidownloads", "consolelinks", "consoleplugins", "consolequickstarts", "consoleyamlsamples"}, "get", "create", "update"),
		// The version of OpenShift and its proxy, if any.
		rule("config.openshift.io", []string{"clusterversions", "proxies"}, "get"),
		// Events for users.
		rule("events.k8s.io", []string{"events"}, "create", "patch"),
	)
}

// Manifests returns YAML manifests that create a service account in a namespace
// and grant it the [Rules] and, in that namespace, the permissions for leader
// election.
func Manifests(namespace, name string) ([]byte, error) {
	meta := metav1.ObjectMeta{Name: name}
	local := metav1.ObjectMeta{Name: name, Namespace: namespace}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: namespace}}
	typed := func(apiVersion, kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
	}
	version := rbacv1.SchemeGroupVersion.String()
	objects := []any{
		&corev1.ServiceAccount{TypeMeta: typed("v1", "ServiceAccount"), ObjectMeta: local},
		&rbacv1.ClusterRole{TypeMeta: typed(version, "ClusterRole"), ObjectMeta: meta, Rules: Rules()},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: typed(version, "ClusterRoleBinding"), ObjectMeta: meta, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		},
		&rbacv1.Role{TypeMeta: typed(version, "Role"), ObjectMeta: local, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update"}},
			// Leader election records events in the core group.
			{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
		}},
		&rbacv1.RoleBinding{
			TypeMeta: typed(version, "RoleBinding"), ObjectMeta: local, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		},
	}
	var out bytes.Buffer
	for i, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}
