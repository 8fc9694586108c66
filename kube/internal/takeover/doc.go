// Package takeover tests that clusters run by OLM can be taken over, and given back, without
// restarting anything. Its testdata holds the objects of clusters that ran OLM v0.45.0, in 53
// scenarios. Where olmkit leaves other objects, the changes name the rule, or it is in the
// list deliberate.
//
// Other tests cover what objects at rest do not show:
//
//   - takeovers in the middle of an upgrade, after each write of OLM: TestMidway
//   - both controllers at once: TestStartedBesideOLM and TestOLMStartedBeside in package kube
//   - an operator for all namespaces whose copy has the name of a replaced version:
//     TestCopyTakesThePlaceOfPredecessor in package reconcile
//   - certificates that are replaced as time passes: reconcile/testdata/scenario/webhooks.txtar,
//     which package scenario replays on an API server
//   - an aggregated API whose server dies: TestAggregatedAPI in package scenario
//   - objects of two versions through the conversion webhook of an operator, before, during and
//     after an upgrade: TestConversion in package scenario
package takeover
