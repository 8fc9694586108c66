// Olmkit-controller manages the operators of a cluster in place of OLM's own
// controllers. Do not run both in the same cluster.
//
//	olmkit-controller --print-rbac | kubectl apply -f -
//	olmkit-controller --global-namespace olm --leader-elect
//
// Use --shard-count and --shard-index, or --namespace-selector, to divide a
// cluster among several processes. With --leader-elect each shard may have
// standbys.
package main

import (
	"fmt"
	"os"
	"runtime/debug"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/olmkit/olmkit/internal/visible"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // most of the heap is the cache, and little garbage is made at rest
	}
	if err := command().ExecuteContext(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(visible.NewWriter(os.Stderr, nil), "olmkit-controller:", err)
		os.Exit(1)
	}
}
