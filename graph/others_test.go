package graph_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// A4: blobs of other schemas are kept, and can be read from a catalog and from its index.
func TestOthers(t *testing.T) {
	ctx := context.Background()
	fsys := fstest.MapFS{
		"a/catalog.json": {Data: []byte(`{"schema":"olm.package","name":"a"}` + "\n" + `{"schema":"x.life","package":"a","n":1}` + "\n" + `{"schema":"x.other","package":"a"}`)},
		"a/more.yaml":    {Data: []byte("schema: x.life\npackage: a\nn: 2\n")},
		"b/catalog.json": {Data: []byte(`{"schema":"olm.package","name":"b"}` + `{"schema":"x.life","n":3}`)},
	}
	check := func(name string, c *graph.Catalog) {
		t.Helper()
		for pkg, want := range map[string]string{"a": `{"schema":"x.life","package":"a","n":1} {"n":2,"package":"a","schema":"x.life"}`, "b": ""} {
			p, ok := c.Package(pkg)
			if !ok {
				t.Fatalf("%s: no package %s", name, pkg)
			}
			list, err := p.Others(ctx, "x.life")
			if got := string(bytes.Join(list, []byte(" "))); err != nil || len(list) != len(strings.Fields(want)) || pkg == "a" && !strings.Contains(got, `"n":1`) {
				t.Errorf("%s: Others of %s = %s, %v; want %s", name, pkg, got, err, want)
			}
		}
	}
	c, err := graph.Load(ctx, fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	check("loaded", c)
	whole, err := graph.Load(ctx, fsys, &graph.Options{Load: &fbc.LoadOptions{KeepAll: true}})
	if err != nil {
		t.Fatal(err)
	}
	check("kept", whole)

	var file bytes.Buffer
	if err := graph.WriteIndex(ctx, &file, c, ""); err != nil {
		t.Fatal(err)
	}
	open := func(opts *graph.Options) *graph.Catalog {
		t.Helper()
		c, err := graph.ReadIndex(bytes.NewReader(file.Bytes()), int64(file.Len()), opts)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	check("opened", open(&graph.Options{Source: fsys}))
	p, _ := open(nil).Package("a")
	if _, err := p.Others(ctx, "x.life"); !errors.Is(err, fbc.ErrNoSource) {
		t.Errorf("without the files: %v", err)
	}
	fsys["a/more.yaml"] = &fstest.MapFile{Data: []byte("schema: x.life\npackage: c\n")}
	p, _ = open(&graph.Options{Source: fsys}).Package("a")
	if _, err := p.Others(ctx, "x.life"); err == nil || !strings.Contains(err.Error(), "the catalog has changed") {
		t.Errorf("after a change: %v", err)
	}
}
