// Resolve shows what an empty namespace would install for two subscriptions,
// and the explanation of a request that has no solution.
//
//	go run ./examples/resolve DIR
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: resolve DIR, the directory of a catalog")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir string) error {
	// Load a catalog once. It may be used for any number of problems
	// concurrently.
	cat, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	problem := resolver.Problem{
		Namespace: "operators",
		Catalogs:  []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: cat}},
		Subscriptions: []resolver.Subscription{
			{Package: "vault-operator"},
			{Package: "grafana", Channel: "v5"},
		},
	}
	if err := solve(ctx, w, problem); err != nil {
		return err
	}
	// The backup tool needs an etcd that the channel stable no longer has.
	problem.Subscriptions = []resolver.Subscription{
		{Package: "etcd", Channel: "stable"},
		{Package: "etcd-backup-tool"},
	}
	return solve(ctx, w, problem)
}

func solve(ctx context.Context, w io.Writer, p resolver.Problem) error {
	sol, err := resolver.Resolve(ctx, p)
	var conflict *resolver.Conflict
	if errors.As(err, &conflict) {
		fmt.Fprintln(w, "no solution:")
		for _, core := range conflict.Cores {
			for _, fact := range core.Facts {
				fmt.Fprintf(w, "  %s: %s\n", fact.Code(), fact)
			}
		}
		return nil
	}
	if err != nil {
		return err // the problem is invalid, or the context has ended
	}
	fmt.Fprintln(w, "to install:")
	for _, s := range sol.Selected {
		fmt.Fprintf(w, "  %s %s from channel %s of %s\n", s.Package, s.Version, s.Channel, s.Catalog)
	}
	return nil
}
