// Package api defines the OLM v1 resources ClusterExtension, ClusterCatalog and
// ClusterObjectSet as Go types for Kubernetes clients. Their JSON is the same as in a cluster;
// see kubectl explain clusterextension.spec for the fields.
//
//	scheme := runtime.NewScheme()
//	err := olmv1.AddToScheme(scheme)
//
// The types contain only the fields that package extension reads or writes. To
// preserve other fields, write existing resources with patches.
package api
