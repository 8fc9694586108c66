package clustertest_test

import (
	"testing"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/clustertest"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// TestCluster is a complete test of an implementation. Replace the cluster in memory with
// yours.
func TestCluster(t *testing.T) {
	clustertest.Run(t, func(*testing.T) reconcile.Cluster {
		return &memcluster.Cluster{Controllers: true}
	})
}

// A function in the test files of an implementation calls Run.
func ExampleRun() {
	_ = TestCluster // see above
}
