package steps

import (
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// kinds lists the kinds that a bundle may contain in addition to its CSV, in any group (E41).
var kinds = []string{
	"ClusterRole", "ClusterRoleBinding", "ConfigMap", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin",
	"ConsoleQuickStart", "ConsoleYAMLSample", olm.KindCRD, "NetworkPolicy", "PodDisruptionBudget", "PriorityClass",
	"PrometheusRule", "Role", "RoleBinding", "Secret", "Service", "ServiceAccount", "ServiceMonitor",
	olm.KindSubscription, "VerticalPodAutoscaler",
}

// clusterScoped lists the cluster-scoped ones among them, by group. The scope of custom
// resources is in their CRD. The running OLM queries the API server.
var clusterScoped = map[string][]string{
	olm.GroupCRD:           {olm.KindCRD},
	"console.openshift.io": {"ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "ConsoleQuickStart", "ConsoleYAMLSample"},
	olm.GroupRBAC:          {"ClusterRole", "ClusterRoleBinding"},
	"scheduling.k8s.io":    {"PriorityClass"},
}

// IsClusterScoped reports whether an object of a bundle is cluster-scoped.
func (p *Builder) IsClusterScoped(k olm.Key, bundle []olm.Object) bool {
	for _, kind := range clusterScoped[k.Group] {
		if kind == k.Kind {
			return true
		}
	}
	if !strings.Contains(k.Group, ".") {
		return false // one of Kubernetes' own
	}
	if crd := p.CRDOf(k.Group, k.Kind); crd != nil {
		return crd.Spec.Scope == olm.ScopeCluster
	}
	for _, o := range bundle {
		if c := o.Key(); c.Group != olm.GroupCRD || c.Kind != olm.KindCRD {
			continue
		}
		if crd, err := olm.As[olm.CustomResourceDefinition](o); err == nil && crd.Spec.Group == k.Group && crd.Spec.Names.Kind == k.Kind {
			return crd.Spec.Scope == olm.ScopeCluster
		}
	}
	return false
}
