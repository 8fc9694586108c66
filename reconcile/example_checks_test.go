package reconcile_test

import (
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
)

// List the operators that block the next minor version of a platform.
func ExampleUpgradeBlockers() {
	csv := func(name, properties string) *olm.ClusterServiceVersion {
		c := &olm.ClusterServiceVersion{}
		c.Metadata = olm.Metadata{Name: name, Namespace: "operators"}
		c.Metadata.SetAnnotation(property.Annotation, properties)
		return c
	}
	blockers, err := reconcile.UpgradeBlockers([]*olm.ClusterServiceVersion{
		csv("etcd.v1.0.0", `[{"type":"olm.maxOpenShiftVersion","value":"4.16"}]`),
		csv("vault.v1.0.0", `[{"type":"olm.maxOpenShiftVersion","value":"4.17"}]`),
		csv("grafana.v1.0.0", `[]`),
	}, "4.16.9")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range blockers {
		fmt.Println(b.CSV.Name, "runs on", b.Max, "at most")
	}
	// Output:
	// etcd.v1.0.0 runs on 4.16 at most
}
