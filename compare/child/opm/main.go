// Opm loads the catalog directories given as arguments like opm and prints its peak memory. Without arguments it loads
// nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/model"

	"github.com/olmkit/olmkit/compare/child/peak"
)

func main() {
	for _, dir := range os.Args[1:] {
		m, err := load(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		runtime.KeepAlive(m)
	}
	if err := peak.Print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func load(dir string) (model.Model, error) {
	cfg, err := declcfg.LoadFS(context.Background(), os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	return declcfg.ConvertToModel(*cfg)
}
