package graph_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
)

const exampleFiles = `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries: [{name: etcd.v1.1.0, replaces: etcd.v1.0.0}, {name: etcd.v1.0.0}]
---
schema: olm.bundle
package: etcd
name: etcd.v1.0.0
image: quay.io/example/etcd:v1.0.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}
---
schema: olm.bundle
package: etcd
name: etcd.v1.1.0
image: quay.io/example/etcd:v1.1.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.1.0}}
- {type: olm.gvk, value: {group: etcd.io, version: v1, kind: Etcd}}
`

// From files to an index: packages, channels from the head down, providers of an API.
func ExampleLoad() {
	catalog := fstest.MapFS{"etcd.yaml": {Data: []byte(exampleFiles)}} // or os.DirFS("catalog")
	index, err := graph.Load(context.Background(), catalog, nil)
	if err != nil {
		fmt.Println(err) // every fault, with its place
		return
	}
	for pkg := range index.Packages() {
		for ch := range pkg.Channels() {
			for e := range ch.Order() {
				fmt.Println(pkg.Name(), ch.Name(), e.Name())
			}
		}
	}
	for b := range index.Providers(property.GVK{Group: "etcd.io", Version: "v1", Kind: "Etcd"}) {
		fmt.Println("provided by", b.Name(), b.Version())
	}
	// Output:
	// etcd stable etcd.v1.1.0
	// etcd stable etcd.v1.0.0
	// provided by etcd.v1.1.0 1.1.0
}
