// Package graph holds catalogs as immutable indexes and answers questions about
// the upgrade graph: which channels a package has, which entry is a channel's
// head, what can follow what, who provides an API.
//
// # A first look
//
//	cat, err := graph.Load(ctx, os.DirFS("catalog"), nil)
//	pkg, ok := cat.Package("etcd")
//	for ch := range pkg.Channels() {
//		head, _ := ch.Head()
//		fmt.Println(ch.Name(), head.Name())
//	}
//
// A [Catalog] never changes once it is built, and any number of goroutines may
// share it. [Package], [Channel], [Entry] and [Bundle] are small comparable
// values that point into it; copying them costs nothing, and the zero value of
// each names nothing. All sequences come in a documented order, never in the
// order of the input, so that the same blobs in any order give the same answers.
//
// # Upgrades
//
// [Package.Upgrades] reads the edges of a package or of some of its channels as
// classic OLM or as OLM v1 does ([Reading]). Each node is something that may be
// installed, content or not; each [Step] says which edges admit it:
//
//	u := pkg.Upgrades(graph.Classic, &graph.UpgradeOptions{Channels: []string{"stable"}})
//	path, ok := u.PathToHead(graph.Node{Name: "etcd.v0.9.0"})
//	for _, s := range path {
//		fmt.Println(s.From, "->", s.To, s.Reasons)
//	}
//
// [Upgrades.Walk] is the path that OLM takes by itself, [Upgrades.Path] the
// shortest one, [Upgrades.Stranded] what has no path to the head, and
// [Package.Disagreements] where the two readings part.
//
// # Broken catalogs
//
// A catalog with broken parts still builds: an entry without a bundle, a channel
// with two heads, a range that does not parse. [Catalog.Problems] lists what is
// wrong with its place, [Channel.Err] and [Bundle.Err] say what cannot be used,
// and everything else answers as usual.
//
// # Compiled indexes
//
// [WriteIndex] writes a catalog as one file and [OpenIndex] opens it, without
// decoding anything: the file is read, checked, and used as it is.
//
//	err := graph.WriteIndex(ctx, file, cat, source) // source, _ := graph.HashSource(ctx, fsys)
//	cat, err := graph.OpenIndex("catalog.index", nil)
//
// An index tells which files it was made from ([Catalog.SourceHash]), so that a
// stale one can be told. Damaged files are an [IndexError].
//
// # Memory
//
// [Load] indexes blob by blob and keeps none. Records are flat, refer to each other
// by number and to text by offset. What resolution does not need stays in the files;
// see package fbc. [Bundle.Raw] and [Catalog.Blobs] read it again.
package graph
