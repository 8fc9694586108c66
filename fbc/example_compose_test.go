package fbc_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
)

// Load and validate in one go: all that is wrong, with places, whether it keeps the
// catalog from loading or not.
func ExampleCheck() {
	catalog := fstest.MapFS{
		"etcd/catalog.yaml": {Data: []byte(etcd)},
		"vault.yaml":        {Data: []byte("schema: olm.package\nname: vault\n")},
	}
	_, found, err := fbc.Check(context.Background(), catalog, nil, nil)
	if err != nil {
		fmt.Println(err) // the context's
		return
	}
	for _, f := range found {
		fmt.Println(f.Severity, f.Code, f.Pos, f.Package)
	}
	// Output:
	// error empty-package vault.yaml:1 vault
	// error required vault.yaml:1 vault
}

// Catalogs are put together, and packages taken out, without a copy of a blob.
func ExampleMerge() {
	ctx := context.Background()
	ours, err := fbc.LoadBytes(ctx, []byte(etcd), "etcd.yaml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	theirs, err := fbc.LoadBytes(ctx, []byte(`{"schema":"olm.package","name":"vault","defaultChannel":"stable"}`), "vault.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := fbc.Merge(ours, theirs)
	if err != nil {
		fmt.Println(err) // what both define
		return
	}
	for _, p := range all.Packages {
		fmt.Println(p.Name)
	}
	part, err := fbc.Extract(all, "vault")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := fbc.Write(context.Background(), os.Stdout, part, nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// etcd
	// vault
	// ---
	// schema: olm.package
	// name: vault
	// defaultChannel: stable
}

const clusterServiceVersion = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: etcd.v0.9.2}
spec:
  version: 0.9.2
  replaces: etcd.v0.9.0
  customresourcedefinitions:
    required: [{name: vaults.vault.io, version: v1, kind: Vault}]
`

// A bundle directory becomes the blob of a catalog, and says what it replaces.
func ExampleReadBundleDir() {
	dir := fstest.MapFS{ // or os.DirFS("etcd/0.9.2")
		"manifests/etcd.csv.yaml":   {Data: []byte(clusterServiceVersion)},
		"metadata/annotations.yaml": {Data: []byte("annotations: {operators.operatorframework.io.bundle.package.v1: etcd}\n")},
	}
	b, err := fbc.ReadBundleDir(context.Background(), dir, &fbc.BundleDirOptions{Image: "quay.io/example/etcd:v0.9.2"})
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

// A template of versions becomes channels and edges. Where the blob of an image comes
// from is up to the caller.
func ExampleSemverTemplate_Expand() {
	ctx := context.Background()
	template, err := fbc.ParseSemver(ctx, []byte(`
schema: olm.semver
generateMajorChannels: true
generateMinorChannels: false
stable:
  bundles:
  - image: quay.io/example/etcd:v0.9.0
  - image: quay.io/example/etcd:v0.9.2
`), "semver.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	published, err := fbc.LoadBytes(ctx, []byte(etcd), "etcd.yaml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := template.Expand(ctx, func(_ context.Context, image string) (*fbc.Bundle, error) {
		for _, b := range published.Bundles {
			if b.Image == image {
				return b, nil
			}
		}
		return nil, fmt.Errorf("image %s is not here", image)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ch := range c.Channels {
		for _, e := range ch.Entries {
			fmt.Println(ch.Name, e.Name, e.Replaces, e.Skips)
		}
	}
	// Output:
	// stable-v0 etcd.v0.9.0  []
	// stable-v0 etcd.v0.9.2  [etcd.v0.9.0]
}
