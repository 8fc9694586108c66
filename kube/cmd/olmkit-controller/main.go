// Command olmkit-controller looks after the operators of a cluster as OLM's own
// controllers do, with the answers of olmkit. Do not run both in one namespace.
//
//	olmkit-controller --print-rbac | kubectl apply -f -
//	olmkit-controller --global-namespace olm --leader-elect
//
// Many replicas share a cluster by --shard-count and --shard-index, or by
// --namespace-selector; with --leader-elect each shard may have standbys.
package main

import (
	"fmt"
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/olmkit/olmkit/internal/visible"
)

func main() {
	if err := command().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(visible.NewWriter(os.Stderr, nil), "olmkit-controller:", err)
		os.Exit(1)
	}
}
