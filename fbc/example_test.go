package fbc_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
)

// etcd is a small catalog: a package with a channel of two versions.
const etcd = `schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v0.9.0
- name: etcd.v0.9.2
  replaces: etcd.v0.9.0
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.0
image: quay.io/example/etcd:v0.9.0
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.0}
---
schema: olm.bundle
package: etcd
name: etcd.v0.9.2
image: quay.io/example/etcd:v0.9.2
properties:
- type: olm.package
  value: {packageName: etcd, version: 0.9.2}
`

func ExampleLoad() {
	catalog := fstest.MapFS{"etcd/catalog.yaml": {Data: []byte(etcd)}} // or os.DirFS("catalog")
	c, err := fbc.Load(context.Background(), catalog, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range c.Bundles {
		fmt.Println(b.Pos, b.Package, b.Name)
	}
	// Output:
	// etcd/catalog.yaml:13 etcd etcd.v0.9.0
	// etcd/catalog.yaml:21 etcd etcd.v0.9.2
}

func ExampleLoad_errors() {
	catalog := fstest.MapFS{
		"a.json": {Data: []byte(`{"schema":"olm.package","name":1}`)},
		"b.yaml": {Data: []byte("schema: olm.channel\nname: stable\n bad: indent\n")},
	}
	_, err := fbc.Load(context.Background(), catalog, nil)
	fmt.Println(err)
	// Output:
	// a.json:1: olm.package: /name: must be a string, found a number
	// b.yaml:3: invalid YAML: mapping values are not allowed in this context
}

func ExampleValidate() {
	c, err := fbc.LoadReader(context.Background(), strings.NewReader(etcd), "catalog.yaml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	broken, err := c.EditEntry(context.Background(), "etcd", "stable", "etcd.v0.9.2", func(e *fbc.Entry) { e.Replaces = "" })
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := fbc.Validate(context.Background(), broken, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range found {
		fmt.Printf("%s %s: %v\n", d.Severity, d.Code, d)
	}
	// Output:
	// error heads: catalog.yaml:5: olm.channel "stable" of package "etcd": /entries: has 2 heads: etcd.v0.9.0, etcd.v0.9.2; let the newest replace or skip the others
}

func ExampleCatalog_Promote() {
	ctx := context.Background()
	c, err := fbc.LoadReader(ctx, strings.NewReader(etcd), "catalog.yaml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err = c.Promote(ctx, "etcd", "beta", fbc.Entry{Name: "etcd.v0.9.2", SkipRange: "<0.9.2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	part := &fbc.Catalog{Channels: c.Channels[1:]}
	if err := fbc.Write(ctx, os.Stdout, part, nil); err != nil {
		fmt.Println(err)
	}
	// Output:
	// ---
	// schema: olm.channel
	// package: etcd
	// name: beta
	// entries:
	// - name: etcd.v0.9.2
	//   skipRange: "<0.9.2"
}

// Load and validate a catalog with one call. The findings include the errors for which Load
// would fail.
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

// Merge catalogs and extract packages. The results share the blobs.
func ExampleMerge() {
	ctx := context.Background()
	ours, err := fbc.LoadReader(ctx, strings.NewReader(etcd), "etcd.yaml", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	theirs, err := fbc.LoadReader(ctx, strings.NewReader(`{"schema":"olm.package","name":"vault","defaultChannel":"stable"}`), "vault.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	all, err := fbc.Merge(nil, ours, theirs)
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
