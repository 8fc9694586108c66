// Package platform plans the upgrade of a platform together with its installed operators.
// It finds installed bundles that block the next minor version, and how to resolve that. A
// plan is an ordered list of steps from 4.N to 4.M, with one catalog for each version.
//
//	plan, err := platform.Upgrade(ctx, platform.Problem{
//		From: "4.16.9", To: "4.19",
//		Catalogs: []platform.Catalog{
//			{Platform: "4.16", Graph: c416}, {Platform: "4.17", Graph: c417},
//			{Platform: "4.18", Graph: c418}, {Platform: "4.19", Graph: c419},
//		},
//		Installed: []platform.Operator{{Name: "etcdoperator.v0.9.0", Package: "etcd", Channel: "stable"}},
//	})
//	fmt.Print(plan)
//
// # How it plans
//
// Operators are planned one by one, because upgrade edges connect versions of a single
// package. Package resolver handles requirements between operators. At each version of the
// platform, OLM takes the upgrades in the operator's channel in the catalog for that version, to
// bundles that support the platform's Kubernetes (minKubeVersion). The platform may continue to
// the next version if no installed bundle blocks it (olm.maxOpenShiftVersion).
//
// A person can change the channel, and keep OLM from upgrading the operator too far. The plan
// is the best of all such ways: it gets the platform as far as possible. Of these ways, it
// prefers one that never leaves the operator on a platform that its lifecycle data do not list
// or that lacks an API which it needs, that does not end at an older version, that does not
// leave the operator behind, that closes no way to a newer head, and that does not end with the
// operator held back. Among the ways that are equal so far, it needs the fewest acts of a person.
// [Plan.Needs] lists these and everything else that needs a person, in order.
//
// If no way gets the platform to its target, the plan ends there, with a [Blocker]. Problems
// that only leave an operator behind, such as a package that is missing from the next catalog,
// are reported but do not block.
package platform
