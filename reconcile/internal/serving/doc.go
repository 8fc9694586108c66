// Package serving computes what an operator needs to serve webhooks and
// aggregated APIs: Services, certificates, permissions and registrations. It
// uses the same names and contents as OLM, so that each takes over what the
// other made without restarting a pod.
//
// All functions are pure: the state of the cluster, the time and the source of
// keys are arguments.
package serving
