package clustertest_test

import (
	"testing"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/clustertest"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// TestCluster is all that a test of an implementation needs. Here it is the one in
// memory; yours comes in its place.
func TestCluster(t *testing.T) {
	clustertest.Run(t, func(*testing.T) reconcile.Cluster {
		return &memcluster.Cluster{Controllers: true}
	})
}

// An implementation is tested by a function of its test files.
func ExampleRun() {
	_ = TestCluster // see above
}
