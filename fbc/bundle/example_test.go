package bundle_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc/bundle"
)

const clusterServiceVersion = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: etcd.v0.9.2}
spec:
  version: 0.9.2
  replaces: etcd.v0.9.0
  customresourcedefinitions:
    required: [{name: vaults.vault.io, version: v1, kind: Vault}]
`

// Render a bundle directory as the blob of a catalog.
func ExampleLoad() {
	dir := fstest.MapFS{ // or os.DirFS("etcd/0.9.2")
		"manifests/etcd.csv.yaml":   {Data: []byte(clusterServiceVersion)},
		"metadata/annotations.yaml": {Data: []byte("annotations: {operators.operatorframework.io.bundle.package.v1: etcd}\n")},
	}
	b, err := bundle.Load(context.Background(), dir, &bundle.Options{Image: "quay.io/example/etcd:v0.9.2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Bundle.Name, "replaces", b.Entry.Replaces)
	for _, p := range b.Bundle.Properties {
		fmt.Println(p.Type, string(p.Value))
	}
	// Output:
	// etcd.v0.9.2 replaces etcd.v0.9.0
	// olm.gvk.required {"group":"vault.io","version":"v1","kind":"Vault"}
	// olm.package {"packageName":"etcd","version":"0.9.2"}
}
