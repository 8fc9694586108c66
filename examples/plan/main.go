// Plan prints what OLM would do next in a namespace with the objects in objects.json.
//
//	go run ./examples/plan DIR
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

//go:embed objects.json
var cluster []byte

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: plan DIR, the directory of a catalog")
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
	var objects []olm.Object
	if err := json.Unmarshal(cluster, &objects); err != nil {
		return err
	}
	snapshot, err := reconcile.NewSnapshot("operators", "olm", objects)
	if err != nil {
		return err
	}
	// The manifests of bundles are in images. A dry run does without them.
	catalogs := &reconcile.Catalogs{StandIns: true}
	catalogs.AddGraph(resolver.CatalogID{Name: "sample", Namespace: "olm"}, cat)
	plan, err := reconcile.Decide(ctx, snapshot, catalogs, nil)
	if err != nil {
		return err
	}
	for _, change := range plan.Changes {
		fmt.Fprintln(w, change)
	}
	for _, note := range plan.Notes {
		fmt.Fprintln(w, note)
	}
	return nil
}
