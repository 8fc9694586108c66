// Package apigroup knows the API groups of Kubernetes.
package apigroup

// IsBuiltin reports whether every cluster serves a group. Which of its versions a cluster serves depends
// on the version of the cluster.
func IsBuiltin(group string) bool {
	switch group {
	case "", "admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "apps", "authentication.k8s.io",
		"authorization.k8s.io", "autoscaling", "batch", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io",
		"events.k8s.io", "flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "policy", "rbac.authorization.k8s.io",
		"scheduling.k8s.io", "storage.k8s.io":
		return true
	}
	return false
}
