// Package operatorgroup implements the semantics of operator groups: which
// namespaces an operator serves, whether it may, which other groups provide its
// APIs there, and which roles and copies result.
//
// All functions compute the desired state, with a reason, from the state of a
// cluster in the types of package olm. They write nothing and do not modify
// their arguments. In the order in which they apply to an operator:
//
//   - [Targets] returns the namespaces that a group selects.
//   - [Membership] decides whether an operator belongs to the group of its
//     namespace, based on its install modes ([Supports]), and if not, why.
//   - [Annotate] sets the annotations of a member.
//   - [Provided] and [Prune] compute annotation olm.providedAPIs. [Decide]
//     decides whether an operator may provide its APIs given the other groups
//     that serve the same namespaces.
//   - [GroupRoles], [APIRoles] and [TargetRBAC] return the roles for users of a
//     group and for the operator itself.
//   - [Copies] returns the copied CSVs that make an operator visible in its
//     target namespaces.
//   - [CoTenancy] reports operators that cannot share a cluster.
//   - [Gate] decides whether an install plan may create CSVs in a namespace.
//
// Where OLM's documentation and OLM differ, the default follows the
// documentation, and an option selects the other behavior. The rules are
// [F1] to [F10].
//
// [F1]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#f1
// [F10]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#f10
package operatorgroup
