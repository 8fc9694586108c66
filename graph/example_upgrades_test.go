package graph_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/graph"
)

// document004 is an example from OLM v1's documentation: a path that classic
// OLM does not find.
const document004 = `
{"schema":"olm.package","name":"example","defaultChannel":"stable"}
{"schema":"olm.channel","package":"example","name":"stable","entries":[
  {"name":"example.v3.0.0","skips":["example.v2.0.0"]},
  {"name":"example.v2.0.0","skipRange":">=1.0.0 <2.0.0"}]}
{"schema":"olm.bundle","package":"example","name":"example.v2.0.0","properties":[{"type":"olm.package","value":{"packageName":"example","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"example","name":"example.v3.0.0","properties":[{"type":"olm.package","value":{"packageName":"example","version":"3.0.0"}}]}`

// Print the path from an installed version in both readings.
func ExamplePackage_Upgrades() {
	cat, err := graph.LoadReader(context.Background(), strings.NewReader(document004), "catalog.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	pkg, _ := cat.Package("example")
	installed := graph.Node{Name: "example.v1.0.0", Version: "1.0.0"}
	for _, reading := range []graph.Reading{graph.Classic, graph.V1} {
		u := pkg.Upgrades(reading, &graph.UpgradeOptions{Installed: []graph.Node{installed}})
		path, ok := u.PathToHead(installed)
		fmt.Println(reading, ok)
		for _, s := range path {
			fmt.Println(" ", s.From, "->", s.To, "by", s.Reasons[0].Edge)
		}
	}
	// Output:
	// classic false
	// v1 true
	//   example.v1.0.0 -> example.v2.0.0 by skipRange
	//   example.v2.0.0 -> example.v3.0.0 by skips
}

func ExampleCompare() {
	ctx := context.Background()
	const head = `
{"schema":"olm.package","name":"a","defaultChannel":"stable"}
{"schema":"olm.bundle","package":"a","name":"a.v1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"a","name":"a.v2","properties":[{"type":"olm.package","value":{"packageName":"a","version":"2.0.0"}}]}
`
	old, err := graph.LoadReader(ctx, strings.NewReader(head+`{"schema":"olm.channel","package":"a","name":"stable","entries":[{"name":"a.v2","replaces":"a.v1"},{"name":"a.v1"}]}`), "old.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The new head lacks an edge.
	new, err := graph.LoadReader(ctx, strings.NewReader(head+`{"schema":"olm.channel","package":"a","name":"stable","entries":[{"name":"a.v2"}]}`), "new.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := graph.Compare(ctx, old, new, graph.Classic)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(d)
	// Output:
	// a
	//   channel stable:
	//     stranded, no longer with a path to the head: a.v1 (1.0.0)
}
