// Opm loads the catalog directories of its arguments as opm does and exits, for
// its peak memory. Without arguments it does nothing.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/model"
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
}

func load(dir string) (model.Model, error) {
	cfg, err := declcfg.LoadFS(context.Background(), os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	return declcfg.ConvertToModel(*cfg)
}
