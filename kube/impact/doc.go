// Package impact reports what an upgrade from one bundle to another changes on a cluster.
//
// [Compare] returns a [Report] with the changes in seven classes: objects, CRDs,
// permissions, webhooks, images, workloads and requirements. Each change has a verdict:
//
//   - [Safe]: nothing that worked before stops working
//   - [Look]: an administrator should read the change before approving the upgrade
//   - [Breaks]: the upgrade cannot be applied, loses data, or breaks users of the operator
//
// Changes that are not safe have a code, which [fbc.Explanations] explains. The rules are
// those from [K223] on.
//
// All functions are pure: they contact no cluster, and equal input gives equal results.
//
// [K223]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k223
package impact
