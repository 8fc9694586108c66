package kube

import (
	"bytes"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Rules returns what a [Reconciler] must be allowed in the whole cluster, and no
// more. Three of them are as strong as they look, and needed: operators get
// their permissions from it, so that it may grant what it does not have itself
// (escalate and bind); and install plans are executed as the service account of
// their operator group (impersonate).
//
// Secrets it may get by name, as bundles may bring some; by the same permission a
// program reads the pull secrets of catalogs, if it is told to: see content.Secrets.
// It may not list them.
//
// It may not read the objects of operators' APIs. Where several operators own a
// CRD, its upgrade is refused until somebody grants that: see E7.
func Rules() []rbacv1.PolicyRule {
	const olmGroup = "operators.coreos.com"
	rule := func(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	var rules []rbacv1.PolicyRule
	// What snapshots hold.
	for _, k := range kinds() {
		verbs := []string{"get", "list", "watch"}
		switch k.group() {
		case kindNamespace.group(), kindOLMConfig.group(), kindAPIService.group():
			verbs = verbs[1:] // no change is made to one, or rests on one
		}
		if n := len(rules); n > 0 && rules[n-1].APIGroups[0] == k.gvk.Group && len(rules[n-1].Verbs) == len(verbs) {
			rules[n-1].Resources = append(rules[n-1].Resources, k.plural)
			continue
		}
		rules = append(rules, rule(k.gvk.Group, []string{k.plural}, verbs...))
	}
	return append(rules,
		// OLM's own.
		rule(olmGroup, []string{"subscriptions"}, "create"),
		rule(olmGroup, []string{"installplans"}, "create", "delete"),
		rule(olmGroup, []string{"clusterserviceversions"}, "create", "update", "delete"),
		rule(olmGroup, []string{"operatorconditions"}, "create"),
		rule(olmGroup, []string{"operatorgroups", "catalogsources"}, "update"),
		rule(olmGroup, []string{
			"subscriptions/status", "installplans/status", "clusterserviceversions/status",
			"operatorconditions/status", "operatorgroups/status", "catalogsources/status",
		}, "update"),
		rule(olmGroup, []string{"catalogsources/status"}, "patch"),
		// What runs operators.
		rule("apps", []string{"deployments"}, "create", "update", "delete"),
		rule("apiextensions.k8s.io", []string{"customresourcedefinitions"}, "create", "update"),
		rule("", []string{"serviceaccounts"}, "create", "update", "impersonate"),
		rule(rbacv1.GroupName, []string{"roles", "clusterroles"}, "create", "update", "delete", "escalate", "bind"),
		rule(rbacv1.GroupName, []string{"rolebindings", "clusterrolebindings"}, "create", "update", "delete"),
		// What else bundles may hold.
		rule("", []string{"services", "configmaps", "secrets"}, "get", "create", "update"),
		rule("policy", []string{"poddisruptionbudgets"}, "get", "create", "update"),
		rule("scheduling.k8s.io", []string{"priorityclasses"}, "get", "create", "update"),
		rule("monitoring.coreos.com", []string{"servicemonitors", "prometheusrules"}, "get", "create", "update"),
		rule("autoscaling.k8s.io", []string{"verticalpodautoscalers"}, "get", "create", "update"),
		rule("console.openshift.io", []string{"consoleclidownloads", "consolelinks", "consoleplugins", "consolequickstarts", "consoleyamlsamples"}, "get", "create", "update"),
		// Which version of OpenShift this is, if it is one.
		rule("config.openshift.io", []string{"clusterversions"}, "get"),
		// What users are told.
		rule("events.k8s.io", []string{"events"}, "create", "patch"),
	)
}

// Manifests returns YAML that creates a service account in a namespace and gives
// it the [Rules], and what the election of a leader takes in that namespace.
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
			// Who leads is told in events of the core group.
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
