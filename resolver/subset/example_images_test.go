package subset_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/subset"
)

// The images of a part, and findings about references that cannot be mirrored by digest.
func ExampleSubset_Images() {
	const catalog = `{"schema":"olm.package","name":"db","defaultChannel":"stable"}
{"schema":"olm.channel","package":"db","name":"stable","entries":[{"name":"db.v1.0.0"}]}
{"schema":"olm.bundle","package":"db","name":"db.v1.0.0","image":"example.com/db-bundle:v1","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}}],
 "relatedImages":[{"name":"db","image":"example.com/db:v1@sha256:1111111111111111111111111111111111111111111111111111111111111111"}]}`
	ctx := context.Background()
	c, err := graph.LoadReader(ctx, strings.NewReader(catalog), "catalog.json", &graph.Options{Load: &fbc.LoadOptions{KeepAll: true}})
	if err != nil {
		log.Fatal(err)
	}
	s, err := subset.Cut(ctx, c, subset.Request{Packages: []subset.Want{{Package: "db"}}})
	if err != nil {
		log.Fatal(err)
	}
	images, findings, err := s.Images(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(images, "\n"))
	for _, f := range findings {
		fmt.Println(f.Severity, f)
	}
	// Output:
	// example.com/db-bundle:v1
	// example.com/db@sha256:1111111111111111111111111111111111111111111111111111111111111111
	// warning catalog.json:3: olm.bundle "db.v1.0.0" of package "db": /image: image "example.com/db-bundle:v1" has no digest, so its content can change; write NAME@sha256:…
}
