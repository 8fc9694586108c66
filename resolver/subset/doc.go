// Package subset cuts from a catalog the smallest part that serves given
// packages, channels, version ranges and installed versions, for mirroring.
//
//	s, err := subset.Cut(ctx, catalog, subset.Request{
//		Packages:  []subset.Want{{Package: "etcd", Channels: []string{"stable"}, Versions: ">=0.9.2"}},
//		Installed: []subset.Installed{{Package: "etcd", Name: "etcdoperator.v0.9.0"}},
//	})
//	err = s.Write(ctx, file, nil)
//
// # What is kept
//
// A part keeps the head of each requested channel and the bundles in the version range,
// every bundle on the upgrade path of each installed operator, and what these need:
//
//   - the entries between a kept one and the head, so that the channel stays one
//     chain and everything kept has its path to the head;
//   - for a skipped entry, one that skips it, so that it stays skipped;
//   - the upgrades of each kept bundle, so that upgrades within the part are the same as
//     in the whole catalog;
//   - bundles that satisfy the requirements of kept ones, chosen as package resolver does.
//
// Edges are never rewritten. A kept entry may replace a name that is not kept, so
// clusters that have that bundle installed still have an upgrade path.
package subset
