// Upgrade upgrades an installed operator to the head of its channel, one
// resolution at a time, as the catalog operator does in a cluster.
//
//	go run ./examples/upgrade DIR
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: upgrade DIR, the directory of a catalog")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir string) error {
	cat, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	pkg, ok := cat.Package("etcd")
	if !ok {
		return errors.New("the catalog has no package etcd")
	}
	current, ok := pkg.Bundle("etcdoperator.v0.9.0")
	if !ok {
		return errors.New("package etcd has no bundle etcdoperator.v0.9.0")
	}
	for {
		sol, err := resolver.Resolve(ctx, resolver.Problem{
			Namespace: "operators",
			Catalogs:  []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: cat}},
			Subscriptions: []resolver.Subscription{
				{Package: "etcd", Channel: "stable", InstalledCSV: current.Name()},
			},
			Installed: []resolver.Installed{{
				Name: current.Name(), Version: current.Version().String(), Package: "etcd",
				Properties: slices.Collect(current.Properties()),
			}},
		})
		if err != nil {
			return err
		}
		// Each operator that stays has a reason.
		for _, s := range sol.Stayed {
			fmt.Fprintf(w, "%s stays: %s\n", s.Name, s.Reason)
		}
		if len(sol.Selected) == 0 {
			return nil
		}
		next := sol.Selected[0]
		fmt.Fprintf(w, "%s replaces %s\n", next.Name, next.Replaces)
		current = next.Bundle
	}
}
