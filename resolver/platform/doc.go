// Package platform plans the upgrade of a platform together with the operators
// that are installed on it: which installed bundles block the next minor version
// and what would lift that (C7), and an ordered list of steps from 4.N to 4.M
// with one catalog for each version on the way (G5).
//
//	plan, err := platform.Upgrade(ctx, platform.Problem{
//		From: "4.16.9", To: "4.19",
//		Catalogs: []platform.Catalog{
//			{Platform: "4.16", Graph: c416}, {Platform: "4.17", Graph: c417},
//			{Platform: "4.18", Graph: c418}, {Platform: "4.19", Graph: c419},
//		},
//		Installed: []platform.Operator{{Name: "etcd.v0.9.0", Package: "etcd", Channel: "stable"}},
//	})
//	fmt.Print(plan)
//
// # How it plans
//
// Operators are planned one by one, since upgrade edges join versions of one
// package only; what operators require of each other is a question for package
// resolver. At each version of the platform an operator may take the steps that
// the catalog of that version offers. It may go on to the next version of the
// platform when the installed bundle says nothing against it
// (olm.maxOpenShiftVersion), and be upgraded to a bundle when the platform's
// Kubernetes is new enough (minKubeVersion). The plan looks ahead: an operator is
// never led to a bundle that blocks what it could have passed.
//
// Where one operator cannot go on, the plan ends there for the whole platform,
// with a [Blocker] that says why and what would lift it. What would only leave an
// operator behind, such as a package that the next catalog does not have, blocks
// nothing and is told as well.
package platform
