// Package desired decides what a ClusterExtension of OLM v1 should have on a cluster: the bundle
// that [Decide] selects or [Target] keeps, the revision that it needs ([Want]), and whether its
// CRDs can replace those of the cluster ([Preflight]). It also converts revisions of package
// rollout from and to the objects that record them, ClusterObjectSets and Secrets.
//
// Nothing here writes to a cluster. Package extension is the controller that does.
package desired
