// Package subset cuts from a catalog the smallest part that serves given
// packages, channels, version ranges and installed versions, for mirroring (G9).
//
//	s, err := subset.Cut(ctx, catalog, subset.Request{
//		Packages:  []subset.Want{{Package: "etcd", Channels: []string{"stable"}, Versions: ">=0.9.2"}},
//		Installed: []subset.Installed{{Package: "etcd", Name: "etcd.v0.9.0"}},
//	})
//	err = s.Write(ctx, file, nil)
//
// # What is kept
//
// Of each channel asked for, the head and the bundles in the range. For each
// installed operator, every bundle that it is upgraded to on its path to the
// head. And then whatever makes that whole:
//
//   - the entries between a kept one and the head, so that the channel stays one
//     chain and everything kept has its path to the head;
//   - of an entry that is skipped, one that skips it, so that it stays skipped;
//   - what a kept bundle is upgraded to, so that every upgrade within the part is
//     the one of the whole catalog;
//   - bundles that meet the requirements of kept ones, chosen as a resolution
//     would choose them.
//
// Edges are never rewritten. A kept entry may replace a name that is not kept:
// whoever has that name installed still has the path.
package subset
