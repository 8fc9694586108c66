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
// platform, an operator may take the upgrades in the catalog for that version, to bundles
// that support the platform's Kubernetes (minKubeVersion). The platform may continue to the
// next version if no installed bundle blocks it (olm.maxOpenShiftVersion). The plan looks
// ahead: it never chooses a bundle that blocks a later version if another does not.
//
// An operator follows its channel. Where that would block the platform or leave the operator
// behind, the plan changes the channel at the last version of the platform at which this is
// possible, and keeps OLM from upgrading the operator too far. [Plan.Needs] lists these and
// everything else that needs a person, in order.
//
// If no change of channels helps an operator that blocks the platform, the plan ends there,
// with a [Blocker]. Problems that only leave an operator behind, such as a package that is
// missing from the next catalog, are reported but do not block.
package platform
