package graph_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

const edited = `
{"schema":"olm.package","name":"a","defaultChannel":"stable"}
{"schema":"olm.channel","package":"a","name":"stable","entries":[{"name":"a.v1.0.0"},{"name":"a.v1.1.0","replaces":"a.v1.0.0"}]}
{"schema":"olm.channel","package":"a","name":"fast","entries":[{"name":"a.v1.1.0"},{"name":"a.v1.2.0","replaces":"a.v1.1.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"q/a:1.0.0","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.1.0","image":"q/a:1.1.0","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.1.0"}}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.2.0","image":"q/a:1.2.0","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.2.0"}}]}`

// An edit returns a new catalog, and the diff shows what it changes for users. Here a
// bundle becomes the head of a channel. Then it skips an older version, whose users upgrade
// in one step.
func ExampleCompareBlobs() {
	ctx := context.Background()
	before, err := fbc.LoadReader(ctx, strings.NewReader(edited), "catalog.json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	promoted, err := before.Promote(ctx, "a", "stable", fbc.Entry{Name: "a.v1.2.0", Replaces: "a.v1.1.0"})
	if err != nil {
		fmt.Println(err)
		return
	}
	skipping, err := promoted.EditEntry(ctx, "a", "stable", "a.v1.2.0", func(e *fbc.Entry) { e.Skips = append(e.Skips, "a.v1.0.0") })
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, step := range [][2]*fbc.Catalog{{before, promoted}, {promoted, skipping}} {
		d, err := graph.CompareBlobs(ctx, step[0], step[1], graph.Classic)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(d)
	}
	// Output:
	// a
	//   channel stable:
	//     head: a.v1.2.0, was a.v1.1.0
	// a
	//   channel stable:
	//     a.v1.0.0 upgrades to a.v1.2.0, was a.v1.1.0
}

// TestCompareBlobsSame checks that a catalog does not differ from itself, and that a
// canceled context stops the comparison.
func TestCompareBlobsSame(t *testing.T) {
	c, err := fbc.LoadReader(t.Context(), strings.NewReader(edited), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := graph.CompareBlobs(t.Context(), c, c, graph.V1)
	if err != nil || !d.IsEmpty() {
		t.Errorf("got %v, %v, want no change", d, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := graph.CompareBlobs(ctx, c, c, graph.V1); err == nil {
		t.Error("no error with a stopped context")
	}
}
