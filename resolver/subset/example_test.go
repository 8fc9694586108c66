package subset_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/subset"
)

// small has a chain with a skipped entry, a head that covers a range, a bundle with a dependency, and a second
// channel.
const small = `
{"schema":"olm.package","name":"db","defaultChannel":"stable","icon":{"base64data":"aGk=","mediatype":"image/svg+xml"}}
{"schema":"olm.channel","package":"db","name":"stable","entries":[
 {"name":"db.v1.0.0"},{"name":"db.v1.1.0","replaces":"db.v1.0.0"},
 {"name":"db.v1.2.0","replaces":"db.v1.1.0"},
 {"name":"db.v1.2.1","replaces":"db.v1.1.0","skips":["db.v1.2.0"]},
 {"name":"db.v1.3.0","replaces":"db.v1.2.1"},
 {"name":"db.v1.4.0","replaces":"db.v1.3.0"}]}
{"schema":"olm.channel","package":"db","name":"fast","entries":[{"name":"db.v2.0.0","skipRange":">=1.0.0 <2.0.0"}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.2.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.2.0"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.2.1","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.2.1"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.3.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.3.0"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.4.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.4.0"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v2.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"db","version":"2.0.0"}},
 {"type":"olm.gvk.required","value":{"group":"c.example.com","version":"v1","kind":"Cert"}}]}
{"schema":"olm.deprecations","package":"db","entries":[{"reference":{"schema":"olm.bundle","name":"db.v1.0.0"},"message":"old"},{"reference":{"schema":"olm.channel","name":"fast"},"message":"shaky"}]}
{"schema":"olm.package","name":"cert","defaultChannel":"stable"}
{"schema":"olm.channel","package":"cert","name":"stable","entries":[{"name":"cert.v1.0.0"},{"name":"cert.v1.1.0","replaces":"cert.v1.0.0"}]}
{"schema":"olm.bundle","package":"cert","name":"cert.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"cert","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"c.example.com","version":"v1","kind":"Cert"}}]}
{"schema":"olm.bundle","package":"cert","name":"cert.v1.1.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"cert","version":"1.1.0"}},{"type":"olm.gvk","value":{"group":"c.example.com","version":"v1","kind":"Cert"}}]}
`

// The bundles to mirror so that an installed version can be upgraded to the head.
func ExampleCut() {
	ctx := context.Background()
	cat, err := graph.LoadReader(ctx, strings.NewReader(small), "catalog.json", &graph.Options{Load: &fbc.LoadOptions{KeepAll: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := subset.Cut(ctx, cat, subset.Request{Installed: []subset.Installed{{Package: "db", Name: "db.v1.2.0"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d of %d bundles\n", s.Bundles, s.Of)
	for _, b := range s.Packages[0].Bundles {
		fmt.Println(b.Name, b.Why)
	}
	// Output:
	// 3 of 9 bundles
	// db.v1.2.1 is on the path of db.v1.2.0, which is installed
	// db.v1.3.0 is on the path of db.v1.2.0, which is installed
	// db.v1.4.0 is the head of stable
}
