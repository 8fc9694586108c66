// Load reads a catalog and lists its packages, their channels and heads.
//
//	go run ./examples/load DIR
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/olmkit/olmkit/graph"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: load DIR, the directory of a catalog")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, dir string) error {
	cat, err := graph.Load(ctx, os.DirFS(dir), nil)
	if err != nil {
		return err // every error in the catalog, with its file and line
	}
	fmt.Fprintf(w, "%d packages, %d bundles\n", cat.Size().Packages, cat.Size().Bundles)
	for pkg := range cat.Packages() {
		fmt.Fprintln(w, pkg.Name())
		for ch := range pkg.Channels() {
			head, ok := ch.Head()
			if !ok {
				fmt.Fprintf(w, "  %s cannot be used: %v\n", ch.Name(), ch.Err())
				continue
			}
			mark := ""
			if ch.IsDefault() {
				mark = " (default)"
			}
			fmt.Fprintf(w, "  %s%s: %s\n", ch.Name(), mark, head.Name())
		}
	}
	return nil
}
