// Package permissions lists what an operator may do once its bundle is installed, and
// which of its permissions are dangerous.
//
// [Of] returns the roles of a bundle as OLM v1 or classic OLM creates them, and the
// [Risk] of each rule that allows more than an operator usually needs. The risks follow
// Kubernetes' [good practices for RBAC]; [fbc.Explanations] explains their codes.
//
// All functions are pure, and equal input gives equal results in equal order.
//
// [good practices for RBAC]: https://kubernetes.io/docs/concepts/security/rbac-good-practices/
package permissions
