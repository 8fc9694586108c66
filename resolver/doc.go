// Package resolver decides which bundles a namespace gets: what OLM would
// install or upgrade for a set of subscriptions, given the installed operators
// and the visible catalogs, in OLM's order of preference, deterministically and
// without a cluster.
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
// A [Problem] is one JSON document that can be written, kept and replayed. [Resolve]
// returns a [Solution], the bundles to be installed and the operators that stay, or a
// [*Conflict], the facts that cannot all hold.
//
// # An upgrade
//
// A subscription owns an installed operator only if InstalledCSV names it. Without it, the
// subscription requests a fresh installation, and the operator stays as it is;
// [Problem.Unowned] lists such operators.
//
//	sol, err := resolver.Resolve(ctx, resolver.Problem{
//		Namespace:     "operators",
//		Catalogs:      []resolver.Catalog{{Name: "community", Namespace: "olm", Graph: cat}},
//		Installed:     []resolver.Installed{{Name: "etcdoperator.v0.9.0", Version: "0.9.0"}},
//		Subscriptions: []resolver.Subscription{{Package: "etcd", Channel: "stable", InstalledCSV: "etcdoperator.v0.9.0"}},
//	})
//
// Selected is empty if nothing changes; Stayed then has the reason for each operator.
//
// # How it works
//
// Candidates are reached from the subscriptions and the installed operators through the
// indexes of package graph. Bundles that are not reached cost nothing. If the first
// preferences together violate no rule, they are the answer. Otherwise each [fact.Fact] about a
// candidate becomes clauses for a SAT solver (package internal/sat), which finds the
// preferences that can be satisfied.
//
// # Preferences
//
// Subscriptions choose before dependencies and, among themselves, in order of
// name, or as given (see [Options]). A subscription prefers the entry nearest to
// the head of its channel. A dependency prefers what is installed, then the
// catalog of the bundle that needs it, then catalogs of higher priority, those
// of the problem's namespace, then catalogs by name; within a catalog the
// default channel of the package, then package and channel by name, then the
// entry nearest to the head. The first preference that leads to a solution is
// taken. Bundles that nothing requires are not chosen.
//
// # Explanations
//
//	var conflict *resolver.Conflict
//	if errors.As(err, &conflict) {
//		report, err := conflict.Report(ctx)
//		fmt.Print(report.Text(80, nil))
//	}
//
// A [Conflict] has independent minimal cores of facts. [Core.Derive] proves that a core
// cannot be satisfied, [Core.Fixes] finds minimal changes that resolve it, and
// [Conflict.Report] returns both as data, for [Report.Text], [Report.Markdown] and JSON.
// Every step has the code of its fact; [fact.Explanations] documents the codes. [Solution.Why] and
// [Solution.WhyNot] explain a solution, and [Solution.Advice] explains why an operator gets no
// newer version. All of this is computed on demand.
//
// [Problem.Inline] makes a problem a self-contained document. [Problem.Record] adds its
// answer, and [Record.Replay] compares it later. Package resolver/shrink reduces a problem
// to the cause of its conflict, package resolver/document reads problems from JSON, and
// package resolver/olmv1 selects bundles as OLM v1 does.
package resolver
