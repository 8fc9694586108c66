// Package crdsafety checks whether a CustomResourceDefinition can be upgraded
// without breaking stored objects and clients, as OLM v1 does before it
// installs or upgrades a bundle.
//
// [Compare] takes the CRD on the cluster and the CRD of the bundle, and returns
// a verdict with its reasons as data. It has no side effects:
//
//	old, err := crdsafety.Decode(onCluster)
//	new, err := crdsafety.Decode(inBundle)
//	r, err := crdsafety.Compare(ctx, old, new, nil)
//	for _, f := range r.Findings {
//		fmt.Println(f) // version v1: ^.spec.size: maximum changed from 10 to 5
//	}
//
// [CompareAll] does the same for all CRDs of a bundle.
//
// # What is compared
//
// The scope and the stored versions of the CRD; each field of each version
// against the same version of the new CRD; and each served version against the
// newer served versions, unless a webhook converts between them. A finding
// between served versions is not reported if the old CRD has it too.
//
// A field may be added, a bound may be relaxed, an enum may gain values, and
// documentation may change. A field must not be removed or become required,
// and its type, default, pattern and nullability must stay. The rules are
// [K54] to [K62].
//
// # Where upstream differs
//
// Operator-controller compares a schema together with the schemas nested below
// additionalProperties, anyOf and other keywords, and refuses every change that
// none of its validations covers as "unhandled". For example, it refuses a
// changed description below additionalProperties. By default, this package
// compares nested schemas field by field and knows every keyword: a change is
// safe if it affects only documentation or accepts more values, such as a removed
// enum, pattern or condition, int64 in place of int32, or an integer or string in
// place of an integer. Where the verdict of operator-controller differs, Upstream has it.
//
// With [Options.AsUpstream] the verdict and the findings are those of
// operator-controller. A finding that the default comparison does not confirm
// has FalseAlarm set. Where operator-controller would crash, the verdict is
// [Panic].
//
// [K54]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k54
// [K62]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#k62
package crdsafety
