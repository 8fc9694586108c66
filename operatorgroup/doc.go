// Package operatorgroup says what operator groups do to the operators of their
// namespaces: which namespaces an operator serves, whether it may, who else
// provides its APIs there, and the roles and copies that follow (rules F1 to
// F10).
//
// Everything here is a function from the state of a cluster, as the values of
// package olm, to what should be, with the reason. Nothing is written and
// nothing passed in is modified. In the order in which an operator meets them:
//
//   - [Targets] are the namespaces that a group selects (F1).
//   - [Membership] says whether an operator belongs to the group of its
//     namespace, by its install modes ([Supports]), and if not, why (F2, F3).
//   - [Annotate] sets the annotations by which a member knows its group (F4).
//   - [Provided] and [Prune] make up the annotation olm.providedAPIs (F5), and
//     [Decide] whether an operator may provide its APIs beside the groups that
//     serve the same namespaces (F6).
//   - [GroupRoles], [APIRoles] and [TargetRBAC] are the roles for the users of
//     a group and for the operator itself (F7).
//   - [Copies] are the CSVs that tell users in the targets of the operator
//     (F8).
//   - [CoTenancy] reports operators of several versions that cannot share a
//     cluster (F9).
//   - [Gate] says whether an install plan may create CSVs in a namespace (F10).
//
// Where the documents of OLM and the running OLM differ, the documents are the
// default, and the function says how to have the other.
package operatorgroup
