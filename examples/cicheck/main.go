// Cicheck decides whether a change to a catalog may be merged. The new catalog
// must be valid, every installed version must keep its path to the head of a
// channel, and no package may lose an API.
//
//	go run ./examples/cicheck OLD NEW
//
// It exits with status 1 if the change must not be merged.
package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/graph"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: cicheck OLD NEW")
	}
	ok, err := run(context.Background(), os.Stdout, os.DirFS(os.Args[1]), os.DirFS(os.Args[2]))
	switch {
	case err != nil:
		log.Fatal(err)
	case !ok:
		os.Exit(1)
	}
}

// run reports whether the change from the old catalog to the new one is
// acceptable and prints the problems.
func run(ctx context.Context, w io.Writer, old, new fs.FS) (ok bool, err error) {
	before, err := fbc.Load(ctx, old, nil)
	if err != nil {
		return false, fmt.Errorf("the old catalog: %w", err)
	}
	after, found, err := fbc.Check(ctx, new, nil, nil)
	if err != nil {
		return false, err
	}
	if err := report.Write(ctx, w, report.Text, found, nil); err != nil {
		return false, err
	}
	for _, f := range found {
		if f.Severity == fbc.Error {
			return false, nil
		}
	}
	diff, err := graph.CompareBlobs(ctx, before, after, graph.Classic)
	if err != nil {
		return false, err
	}
	ok = true
	for _, pkg := range diff.Packages {
		for _, ch := range pkg.Channels {
			for _, node := range ch.Lost {
				fmt.Fprintf(w, "%s: an installed %s no longer gets updates from channel %s\n", pkg.Name, node.Name, ch.Name)
				ok = false
			}
		}
		for _, api := range pkg.APIsRemoved {
			fmt.Fprintf(w, "%s: nothing provides %s any longer\n", pkg.Name, api)
			ok = false
		}
	}
	if ok {
		fmt.Fprintln(w, "no problems found")
	}
	return ok, nil
}
