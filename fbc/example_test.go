package fbc_test

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
)

// etcd is a small catalog: a package with a channel of two versions.
//
//go:embed testdata/etcd.yaml
var etcd string

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
	c, err := fbc.LoadBytes(context.Background(), []byte(etcd), "catalog.yaml", nil)
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
	c, err := fbc.LoadBytes(ctx, []byte(etcd), "catalog.yaml", nil)
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
