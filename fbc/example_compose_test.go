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
