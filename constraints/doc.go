// Package constraints parses and evaluates the requirements of operator
// bundles: olm.constraint properties and the older olm.gvk.required,
// olm.package.required and olm.label.required, all in one tree representation.
//
// A [Compiler] parses them:
//
//	c := constraints.NewCompiler(nil)
//	x, err := c.Parse([]byte(`{"any": {"constraints": [
//		{"package": {"packageName": "etcd", "versionRange": ">=0.9.0"}},
//		{"not": {"constraints": [{"cel": {"rule": "properties.exists(p, p.type == 'legacy')"}}]}}
//	]}}`))
//	fmt.Println(x) // any(package etcd >=0.9.0, not cel `properties.exists(p, p.type == 'legacy')`)
//
// An [Expr] is data: it can be printed, walked, compared and written as JSON.
// Its meaning is left to the code that uses it. There are two semantics:
//
//   - Documented: the tree is a boolean formula over the set of bundles that a
//     resolution selects. A leaf is true if some bundle in the set satisfies
//     it. Package resolver translates the tree to clauses.
//   - Per bundle, as in OLM itself: one bundle must satisfy the whole tree. An
//     [Evaluator] tests this. The resolver also uses it to find the bundles
//     that satisfy a leaf.
//
// # CEL rules
//
// A rule is an expression of type bool in the Common Expression Language. In
// addition to the standard functions and macros there are:
//
//   - properties, the list of the bundle's properties in catalog order, as maps
//     with the keys type and value. Numbers are doubles. The value of a
//     property that is not in memory (property.IsHeavy) is null.
//   - semver_compare(a, b), which returns -1, 0 or 1. Versions may be
//     incomplete and may begin with "v"; anything else is an error.
//   - cluster, facts about the cluster from [Cluster]: cluster.kubeVersion and
//     cluster.platformVersion, if known, and the map cluster.facts. OLM does
//     not have this variable.
//
// A rule whose evaluation fails, for example because a key is missing, is
// false, and the error is reported with the result. Macros visit the keys of a
// map in sorted order.
//
// # Limits
//
// For any input, parsing and evaluation stay within [Limits]. An error names
// the limit that was exceeded.
package constraints
