// Opm is the part of opm that serves a catalog.
package main

import (
	"os"

	"github.com/operator-framework/operator-registry/cmd/opm/serve"
	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "opm"}
	root.AddCommand(serve.NewCmd())
	if root.Execute() != nil {
		os.Exit(1)
	}
}
