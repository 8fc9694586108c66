package graph_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
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

// Load a catalog and list its packages, its channels from the head down, and the providers
// of an API.
func ExampleLoad() {
	catalog := fstest.MapFS{"etcd.yaml": {Data: []byte(exampleFiles)}} // or os.DirFS("catalog")
	index, err := graph.Load(context.Background(), catalog, nil)
	if err != nil {
		fmt.Println(err) // lists every error with its position
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

// An index can check whether the files that it was made from have changed.
func ExampleReadIndex() {
	ctx := context.Background()
	files := fstest.MapFS{"etcd/catalog.yaml": {Data: []byte(exampleFiles)}}
	cat, err := graph.Load(ctx, files, nil)
	if err != nil {
		log.Fatal(err)
	}
	source, err := graph.HashSource(ctx, files)
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := graph.WriteIndex(ctx, &file, cat, source); err != nil {
		log.Fatal(err)
	}

	opened, err := graph.ReadIndex(bytes.NewReader(file.Bytes()), int64(file.Len()), nil)
	if err != nil {
		log.Fatal(err)
	}
	pkg, _ := opened.Package("etcd")
	ch, _ := pkg.DefaultChannel()
	head, _ := ch.Head()
	fmt.Println(head.Name())

	files["etcd/catalog.yaml"].Data = append(files["etcd/catalog.yaml"].Data, "# changed\n"...)
	now, err := graph.HashSource(ctx, files)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("stale:", now != opened.SourceHash())
	// Output:
	// etcd.v1.1.0
	// stale: true
}
