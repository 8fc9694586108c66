// Package bundlelint checks registry+v1 bundles: what OLM refuses, and what is legal but
// likely to fail on a cluster or behind a mirror.
//
// [Lint] returns findings as package fbc does for catalogs, so package fbc/report prints
// them, and [fbc.Explanations] explains their codes. It combines the validators of OLM v1
// (package registryv1), the rules for the blob that a catalog gets from the bundle
// (package fbc/bundle), and further checks (from rule [K214] on).
//
// Lint is pure: it contacts no cluster and no registry, and equal files give equal
// findings in equal order.
//
// [K214]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k214
package bundlelint
