// Package kube connects olmkit to a real cluster. A [Cluster] is one in the
// sense of package reconcile, on controller-runtime's client; a [Reconciler]
// brings all namespaces of a cluster, or a shard of them, to where package
// reconcile leads, and keeps them there.
//
// A single namespace, once:
//
//	cluster, err := kube.NewCluster(ctx, config, kube.ClusterOptions{})
//	loop := &reconcile.Loop{Cluster: cluster, Content: content}
//	result, err := loop.Run(ctx, "operators")
//
// # Without loss
//
// Objects are read and written as they are in the cluster, by way of JSON: what
// neither this module nor the Go types of operator-framework/api know of stays
// in them. For programs that have those types [FromTyped] and [ToTyped] convert.
//
// # Who was first
//
// Every update and deletion carries the resourceVersion that it was made from,
// every creation is refused where something exists. So any number of replicas,
// and any other writer, may work on a namespace at once: all but the first are
// refused with reconcile.ErrConflict and decide again. What is written has the
// field manager [FieldOwner].
//
// Snapshots are read from a cache where there is one. What this process wrote,
// or found to be newer when it was refused, is laid over it until the cache
// knows, so that nobody decides twice about what was done.
package kube
