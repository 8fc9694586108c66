package graph_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
)

// TestRepeatedAPI checks that an API that a bundle lists twice is reported
// (H26), also after writing and opening the index.
func TestRepeatedAPI(t *testing.T) {
	ctx := context.Background()
	c, err := graph.LoadReader(ctx, strings.NewReader(`{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a2","replaces":"a1"},{"name":"a1"}]}
{"schema":"olm.bundle","package":"a","name":"a1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},
 {"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"J"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K"}}]}
{"schema":"olm.bundle","package":"a","name":"a2","properties":[{"type":"olm.package","value":{"packageName":"a","version":"2.0.0"}},
 {"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"J"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"K"}},
 {"type":"olm.gvk","value":{"kind":"K","group":"g","version":"v1"}}]}`), "c.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(c *graph.Catalog) {
		t.Helper()
		p, _ := c.Package("a")
		one, _ := p.Bundle("a1")
		two, _ := p.Bundle("a2")
		if api, ok := one.RepeatedAPI(); ok {
			t.Errorf("a1 lists %s twice", api)
		}
		if api, ok := two.RepeatedAPI(); !ok || api.Kind != "K" || two.Err() != nil {
			t.Errorf("a2: %s, %v, %v", api, ok, two.Err())
		}
		want := `c.json:5: olm.bundle "a2" of package "a": /properties: K (g/v1) is listed twice`
		if list := c.Findings(); len(list) != 1 || list[0].Error() != want || len(list.Errors()) != 0 {
			t.Errorf("problems %v, want a warning %s", list, want)
		}
	}
	check(c)
	var b bytes.Buffer
	if err := graph.WriteIndex(ctx, &b, c, ""); err != nil {
		t.Fatal(err)
	}
	opened, err := graph.ReadIndex(bytes.NewReader(b.Bytes()), int64(b.Len()), nil)
	if err != nil {
		t.Fatal(err)
	}
	check(opened)
}
