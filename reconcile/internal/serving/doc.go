// Package serving computes the objects that an operator needs to serve webhooks
// and aggregated APIs: Services, certificates, permissions and registrations.
// They have the same names and contents as OLM's, so that each can take over
// from the other without restarting pods.
//
// All functions are pure: the state of the cluster, the time and the source of
// keys are arguments.
package serving
