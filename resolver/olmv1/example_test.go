package olmv1_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// The requested version is not a direct successor of the installed one: the
// refusal lists the steps to it, and the funnel shows where bundles were dropped.
func ExampleSelect() {
	const catalog = `
{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[
  {"name":"etcd.v1.0.0"},
  {"name":"etcd.v1.1.0","replaces":"etcd.v1.0.0"},
  {"name":"etcd.v1.2.0","replaces":"etcd.v1.1.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.1.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.2.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.2.0"}}]}`
	ctx := context.Background()
	cat, err := graph.LoadReader(ctx, strings.NewReader(catalog), "catalog.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	request := olmv1.Request{
		Package:   "etcd",
		Catalogs:  []olmv1.Catalog{{Name: "community", Graph: cat}},
		Installed: &olmv1.Installed{Name: "etcd.v1.0.0", Version: "1.0.0"},
	}
	sel, err := olmv1.Select(ctx, request)
	fmt.Println(sel.Bundle, err)

	request.Version = "1.2.x"
	_, err = olmv1.Select(ctx, request)
	var no *olmv1.Refusal
	if errors.As(err, &no) {
		fmt.Println(no)
		for _, s := range no.Funnel.Stages {
			fmt.Println(s.Stage, s.Bundles)
		}
	}
	// Output:
	// etcd.v1.1.0 <nil>
	// no bundle of package "etcd" in range "1.2.x" is a successor of etcd.v1.0.0; to reach it, install in order: etcd.v1.1.0, then etcd.v1.2.0
	// catalogs 0
	// package 3
	// channels 3
	// range 1
	// successors 0
	// deprecation 0
	// newest 0
	// priority 0
	// validations 0
}
