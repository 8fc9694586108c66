// Package constraints reads and evaluates what operator bundles require of each
// other: olm.constraint properties and the older olm.gvk.required,
// olm.package.required and olm.label.required, all as one kind of tree (rules
// D2 to D7).
//
// A [Compiler] makes the trees:
//
//	c := constraints.NewCompiler(nil)
//	x, err := c.Parse([]byte(`{"any": {"constraints": [
//		{"package": {"packageName": "etcd", "versionRange": ">=0.9.0"}},
//		{"not": {"constraints": [{"cel": {"rule": "properties.exists(p, p.type == 'legacy')"}}]}}
//	]}}`))
//	fmt.Println(x) // any(package etcd >=0.9.0, not cel `properties.exists(p, p.type == 'legacy')`)
//
// An [Expr] is data: it can be printed, walked, compared and written as JSON
// again, and whoever gives it a meaning switches over its types. It has two:
//
//   - In the documented one (D5) a tree is a boolean formula over the set of
//     bundles that a resolution results in. A leaf is true when some bundle of
//     the set satisfies it, and package resolver makes clauses of the rest.
//   - In that of the running OLM (D6) one bundle must satisfy the whole tree.
//     That is what an [Evaluator] tests, and it serves the resolver to find the
//     bundles that satisfy a leaf as well.
//
// # CEL rules
//
// A rule is an expression of type bool in the Common Expression Language with
// its standard functions and macros and, in addition:
//
//   - properties, the list of the bundle's properties as maps with the keys
//     type and value, in the catalog's order. Numbers are doubles. The value of
//     a property that is not in memory (property.IsHeavy) is null.
//   - semver_compare(a, b), which is -1, 0 or 1. Versions may be incomplete and
//     have a "v" in front; what is no version is an error.
//   - cluster, facts about the cluster from [Cluster], which the running OLM
//     does not have: cluster.kubeVersion and cluster.platformVersion, if known,
//     and cluster.facts, a map.
//
// A rule that fails at evaluation, because a key is missing for instance, is
// false, and the failure is reported beside the result. Macros visit the keys of a map
// in their order.
//
// # Limits
//
// Whatever the input, parsing and evaluating end within bounds that [Limits]
// sets, and the error names the limit that was hit.
package constraints
