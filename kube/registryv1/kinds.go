package registryv1

// A scope is the scope of a kind, or unsupported if a bundle must not hold objects
// of that kind.
type scope int

const (
	unsupported scope = iota
	cluster
	namespaced
)

// extraScope returns the scope of a kind that a bundle may hold in addition to its
// ClusterServiceVersion and CustomResourceDefinitions. It looks only at the name
// of the kind, not at its group (K7).
func extraScope(kind string) scope {
	switch kind {
	case "ConfigMap", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "PrometheusRule",
		"Role", "RoleBinding", "Secret", "Service", "ServiceAccount", "ServiceMonitor":
		return namespaced
	case "ClusterRole", "ClusterRoleBinding", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin",
		"ConsoleQuickStart", "ConsoleYAMLSample", "PriorityClass", "VerticalPodAutoscaler":
		return cluster
	}
	return unsupported
}
