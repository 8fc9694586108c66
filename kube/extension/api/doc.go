// Package api holds the resources of OLM v1, ClusterExtension and
// ClusterCatalog, as Go types for clients of Kubernetes. Their JSON is that of the
// resources in a cluster; the words of their fields are explained there
// (kubectl explain clusterextension.spec).
//
//	scheme := runtime.NewScheme()
//	err := olmv1.AddToScheme(scheme)
//
// The types hold what package extension reads and writes. What newer versions add
// is not in them, so write status by patches, and nothing else.
package api
