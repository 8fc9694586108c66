package subset_test

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/subset"
)

// The bundles to mirror so that an installed version can be upgraded to the head.
func ExampleCut() {
	ctx := context.Background()
	cat, err := graph.LoadBytes(ctx, []byte(small), "catalog.json", options)
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
