package platform_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/platform"
)

// A bundle that supports at most 4.16 must be upgraded before the platform.
func ExampleUpgrade() {
	const catalog = `
{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.0.0"},{"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","properties":[
  {"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}},{"type":"olm.maxOpenShiftVersion","value":"4.16"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}}]}`
	ctx := context.Background()
	cat, err := graph.LoadReader(ctx, strings.NewReader(catalog), "catalog.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := platform.Upgrade(ctx, platform.Problem{
		From: "4.16.9", To: "4.17",
		Catalogs:  []platform.Catalog{{Platform: "4.16", Graph: cat}, {Platform: "4.17", Graph: cat}},
		Installed: []platform.Operator{{Name: "etcd.v1.0.0", Package: "etcd"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// Platform 4.16 to 4.17: 1 platform upgrade, 1 operator upgrade.
	//
	// Steps:
	//   1. on 4.16: etcd: 1.0.0 -> 1.1.0 (replaces in stable)
	//   2. on 4.16: upgrade the platform to 4.17
	//
	// Resolved by the plan:
	//   etcd at 4.16: etcd.v1.0.0 blocks 4.17: its olm.maxOpenShiftVersion is 4.16; etcd.v1.1.0 does not
	//
	// Operators:
	//   etcd: 1.0.0 to 1.1.0, the head of channel stable; safe on 4.16 and 4.17
}
