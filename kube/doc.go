// Package kube connects olmkit to a real cluster: it implements the Cluster of
// package reconcile on controller-runtime's client.
package kube
