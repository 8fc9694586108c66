// Package kube connects olmkit to a real cluster. A [Cluster] implements
// reconcile.Cluster with controller-runtime's client. A [Reconciler] runs
// package reconcile for all namespaces of a cluster, or for a shard of them,
// and keeps them up to date.
//
// To reconcile a single namespace once:
//
//	cluster, err := kube.NewCluster(ctx, config, kube.ClusterOptions{})
//	loop := &reconcile.Loop{
//		Cluster: cluster, Content: content,
//		Options: reconcile.Options{CheckResources: crd.Check}, // package kube/crd
//	}
//	result, err := loop.Run(ctx, "operators")
//
// # Unknown fields
//
// Objects are read and written as JSON, so that fields unknown to this module
// and to operator-framework/api are preserved. [FromTyped] and [ToTyped]
// convert from and to the Go types of operator-framework/api.
//
// # Concurrent writers
//
// Every update and deletion carries the resourceVersion that it was planned
// from, and a creation fails if the object exists. Any number of replicas and
// other writers may therefore work on a namespace at once: only the first write
// succeeds, and the others fail with reconcile.ErrConflict and are planned
// again. The field manager of all writes is [FieldOwner].
//
// If there is a cache, snapshots are read from it. The cache is overlaid with
// this process's own writes, and with newer versions that were read after a
// conflict, until it has caught up. A cache that lags behind therefore never
// causes a decision to be made twice.
package kube
