// Package graph holds catalogs as immutable indexes and answers queries about the upgrade
// graph: the channels of a package, the head of a channel, the successors of an entry, the
// providers of an API.
//
// # Loading
//
//	cat, err := graph.Load(ctx, os.DirFS("catalog"), nil)
//	pkg, ok := cat.Package("etcd")
//	for ch := range pkg.Channels() {
//		head, _ := ch.Head()
//		fmt.Println(ch.Name(), head.Name())
//	}
//
// A [Catalog] is immutable and safe for concurrent use. [Package], [Channel], [Entry] and
// [Bundle] are small comparable values that point into it. They are cheap to copy, and
// their zero values refer to nothing. All sequences have a documented order: the same
// blobs in any order give the same answers.
//
// # Upgrades
//
// [Package.Upgrades] reads the edges of a package or of some of its channels as
// classic OLM or OLM v1 does ([Reading]). Each node may be installed, whether the catalog
// has its bundle or not. Each [Step] has the edges that admit it:
//
//	u := pkg.Upgrades(graph.Classic, &graph.UpgradeOptions{Channels: []string{"stable"}})
//	path, ok := u.PathToHead(graph.Node{Name: "etcdoperator.v0.9.0"})
//	for _, s := range path {
//		fmt.Println(s.From, "->", s.To, s.Reasons)
//	}
//
// [Upgrades.Walk] returns the path that OLM takes, [Upgrades.Path] the shortest path,
// [Upgrades.Stranded] the nodes without a path to the head, and [Package.Disagreements]
// the differences between the two readings.
//
// # Broken catalogs
//
// A catalog with broken parts still builds: an entry without a bundle, a channel
// with two heads, a range that cannot be parsed. [Catalog.Findings] returns the faults
// with their positions, and [Channel.Err] and [Bundle.Err] report parts that cannot be used.
// Everything else works as usual.
//
// # Compiled indexes
//
// [WriteIndex] writes a catalog to one file. [OpenIndex] reads and checks the file or, with
// [Options.OnDemand], each package when it is first needed.
//
//	err := graph.WriteIndex(ctx, file, cat, source) // source, _ := graph.HashSource(ctx, fsys)
//	cat, err := graph.OpenIndex("catalog.index", nil)
//
// An index has the hash of the files that it was made from ([Catalog.SourceHash]), which
// shows whether it is stale. For a damaged file the error is an [IndexError].
//
// # Memory
//
// [Load] indexes blob by blob and keeps none. Records are flat, and refer to each other by
// number and to text by offset. Content that resolution does not need stays in the files;
// see package fbc. [Bundle.Raw] and [Catalog.Blobs] read it again.
package graph
