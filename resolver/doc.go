// Package resolver decides which bundles a namespace gets: what OLM would
// install or upgrade for a set of subscriptions over the operators that are
// installed and the catalogs that are visible, in OLM's order of preference,
// deterministically and without a cluster.
//
// # A first resolution
//
//	cat, err := graph.Load(ctx, os.DirFS("catalog"), nil)
//	sol, err := resolver.Resolve(ctx, resolver.Problem{
//		Namespace:     "operators",
//		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: cat}},
//		Subscriptions: []resolver.Subscription{{Package: "etcd", Channel: "stable"}},
//	})
//	for _, s := range sol.Selected {
//		fmt.Println(s.Name, "from", s.Catalog)
//	}
//
// A [Problem] is one JSON document that can be written, kept and replayed. It
// solves to a [Solution], the bundles to be installed and the operators that
// stay, or to a [*Conflict], the facts that cannot all hold.
//
// # How it works
//
// Candidates are reached from the subscriptions and the installed operators
// through the indexes of package graph; what is not reached costs nothing. First
// everybody's first preference is tried: where it breaks no rule it is the
// answer. Otherwise all that was reached is stated as clauses, each under a
// switch of its own that remembers the [Fact] it came from, and a SAT solver
// decides which preferences can be had (package internal/sat).
//
// # Preferences
//
// Subscriptions choose before dependencies and, among themselves, in order of
// name, or as given (see [Options]). A subscription prefers the entry nearest to
// the head of its channel. A dependency prefers what is installed, then the
// catalog of the bundle that needs it, then catalogs of higher priority, those
// of the problem's namespace, and the smaller catalog name; within a catalog the
// default channel of the package, then package and channel by name, then the
// entry nearest to the head (D8, H13). The first preference that leads to a
// solution is taken, and nothing is chosen that nothing asked for.
//
// # Explanations
//
// A [Conflict] holds independent minimal cores of facts. [Core.Derive] turns one
// into a derivation from what was asked for to the contradiction, [Core.Fixes]
// finds the smallest changes that resolve it, and [Conflict.Report] is all of that
// as data, for [Report.Text], [Report.Markdown] and JSON. Every step has the code
// of its fact; [Explain] tells what a code means. A [Solution] answers
// [Solution.Why] and [Solution.WhyNot]. Nothing of this costs anything before it is
// asked for.
//
// [Problem.Inline] makes a problem one document that needs no other file,
// [Problem.Record] adds its answer and [Record.Replay] compares it later; package
// resolver/shrink cuts a problem down to what makes its conflict. Package
// resolver/document reads problems from JSON, package resolver/olmv1 selects as OLM v1
// does.
package resolver
