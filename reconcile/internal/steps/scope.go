package steps

import (
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// clusterScoped lists the cluster-scoped kinds that bundles may contain, by
// group: those in operator-registry's list, except VerticalPodAutoscaler, which
// is namespaced, and built-in kinds of Kubernetes that other tools add to
// bundles. The scope of custom resources is in their CRD. The running OLM
// queries the API server.
var clusterScoped = map[string][]string{
	"": {"Namespace", "PersistentVolume"},
	"admissionregistration.k8s.io": {
		"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
		"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	},
	olm.GroupCRD:                   {olm.KindCRD},
	"apiregistration.k8s.io":       {"APIService"},
	"console.openshift.io":         {"ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "ConsoleQuickStart", "ConsoleYAMLSample"},
	"networking.k8s.io":            {"IngressClass"},
	"node.k8s.io":                  {"RuntimeClass"},
	olm.GroupRBAC:                  {"ClusterRole", "ClusterRoleBinding"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"security.openshift.io":        {"SecurityContextConstraints"},
	"storage.k8s.io":               {"CSIDriver", "StorageClass"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
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
