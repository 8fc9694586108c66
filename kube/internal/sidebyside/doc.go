// Package sidebyside runs scenarios on a real API server, with olmkit-controller, and compares
// the states in which it leaves the cluster with those that OLM v0.45.0 left (package
// recording). Each difference is in the list deliberate, with its rule.
//
// "make sidebyside" builds OLM's own controllers (module olm), runs the same scenarios with
// them, and updates the recording. No kubelet and no controller manager runs: the package
// makes deployments available and collects garbage itself.
package sidebyside
