// Olmkit loads the catalog directories given as arguments with olmkit and prints its peak memory. Without arguments it
// loads nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/olmkit/olmkit/compare/child/peak"
	"github.com/olmkit/olmkit/graph"
)

func main() {
	for _, dir := range os.Args[1:] {
		c, err := graph.Load(context.Background(), os.DirFS(dir), nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		runtime.KeepAlive(c)
	}
	if err := peak.Print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
