// Load reads a catalog and lists its packages, their channels and heads.
//
//	go run ./examples/load [DIR]
//
// Without a directory it reads the sample catalog of the repository.
package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/sample"
)

func main() {
	catalog := sample.Catalog()
	if len(os.Args) > 1 {
		catalog = os.DirFS(os.Args[1])
	}
	if err := run(context.Background(), os.Stdout, catalog); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, catalog fs.FS) error {
	cat, err := graph.Load(ctx, catalog, nil)
	if err != nil {
		return err // every error in the catalog, with its file and line
	}
	fmt.Fprintf(w, "%d packages, %d bundles\n", cat.NumPackages(), cat.NumBundles())
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
