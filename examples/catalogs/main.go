// Catalogs resolves over three catalogs. A dependency comes from the catalog of the bundle
// that requires it, whatever the priorities. If that catalog does not have the dependency, it
// comes from the catalog with the highest priority that does.
//
//	go run ./examples/catalogs DIR
package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// A team's own catalog: its build of etcd, and a shop that requires etcd and a
// Prometheus operator, which only the community catalog has.
//
//go:embed team.yaml
var team []byte

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: catalogs DIR, the directory of a catalog")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir string) error {
	community, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err
	}
	ours, err := graph.LoadReader(ctx, bytes.NewReader(team), "team.yaml", nil)
	if err != nil {
		return err
	}
	for _, priority := range []int{-10, 10} {
		sol, err := resolver.Resolve(ctx, resolver.Problem{
			Namespace: "operators",
			// An index may be used under several names.
			Catalogs: []resolver.Catalog{
				{Name: "community", Namespace: "olm", Graph: community},
				{Name: "mirror", Namespace: "olm", Priority: priority, Graph: community},
				{Name: "team", Namespace: "olm", Graph: ours},
			},
			Subscriptions: []resolver.Subscription{{Package: "shop"}},
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "with priority %d for mirror:\n", priority)
		for _, s := range sol.Selected {
			fmt.Fprintf(w, "  %s %s from %s\n", s.Package, s.Version, s.Catalog)
		}
	}
	return nil
}
