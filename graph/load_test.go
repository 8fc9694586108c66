package graph_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
)

// faulty has blobs of all kinds with faults that an index lists. Several are on
// one line, and their order differs from that of an index.
const faulty = `{"schema":"olm.deprecations","package":"p","entries":[{"reference":{"schema":"olm.package"},"message":"old"},{"reference":{"schema":"olm.channel","name":"d"},"message":"x"}]}
{"schema":"olm.channel","package":"q","name":"z","entries":[{"name":"q.v2","replaces":"q.v1"},{"name":"none"},{"name":"q.v1","replaces":"q.v2","skipRange":"<<"}]} {"schema":"olm.channel","package":"p","name":"b","entries":[{"name":"p.v1"}]}
{"schema":"olm.bundle","package":"q","name":"q.v2","properties":[{"type":"olm.package.required","value":{"packageName":"p","versionRange":">1.0.0"}},{"type":"olm.gvk","value":{"group":"g","kind":"K","version":"v1"}},{"type":"olm.gvk","value":{"group":"g"}}]} {"schema":"olm.bundle","package":"p","name":"p.v1","properties":[]}
{"schema":"olm.bundle","package":"p","name":"p.v0","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0"}},{"type":"olm.gvk","value":{"group":"a","kind":"K","version":"v1"}},{"type":"olm.label","value":{"label":"gold"}},{"type":"olm.package.required","value":{"packageName":"q","versionRange":">1.0.0"}},{"type":"olm.label","value":{"label":"a"}}]}
{"schema":"olm.package","name":"q","defaultChannel":"z"}
`

// TestLoadAsBuild checks that loading a catalog blob by blob gives the same
// results as building it from shuffled blobs.
func TestLoadAsBuild(t *testing.T) {
	ctx := context.Background()
	catalogs := map[string]fstest.MapFS{
		"indexed": {"catalog.yaml": {Data: []byte(indexed)}},
		"faulty":  {"catalog.json": {Data: []byte(faulty)}},
		"sized":   testcatalog.Sized(1),
	}
	for name, fsys := range catalogs {
		t.Run(name, func(t *testing.T) {
			loaded, err := graph.Load(ctx, fsys, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := dump(loaded)
			for seed := range uint64(5) {
				blobs, err := fbc.Load(ctx, fsys, nil)
				if err != nil {
					t.Fatal(err)
				}
				r := rand.New(rand.NewPCG(seed, 0))
				r.Shuffle(len(blobs.Bundles), func(i, j int) {
					blobs.Bundles[i], blobs.Bundles[j] = blobs.Bundles[j], blobs.Bundles[i]
				})
				r.Shuffle(len(blobs.Channels), func(i, j int) {
					blobs.Channels[i], blobs.Channels[j] = blobs.Channels[j], blobs.Channels[i]
				})
				built, err := graph.Build(ctx, blobs, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := dump(built); got != want {
					t.Fatalf("seed %d: built of blobs it says\n%.2000s\nloaded it says\n%.2000s", seed, got, want)
				}
			}
		})
	}
}

// TestLoadLeavesBlobs reads values that a load did not keep, and checks the
// error if they have changed.
func TestLoadLeavesBlobs(t *testing.T) {
	ctx := context.Background()
	files := fstest.MapFS{"etcd/catalog.yaml": {Data: []byte(indexed)}}
	c, err := graph.Load(ctx, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := graph.ReadIndex(bytes.NewReader(write(t, c, "")), int64(len(write(t, c, ""))), &graph.Options{Source: files})
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := fbc.Load(ctx, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]*graph.Catalog{"loaded": c, "opened": opened} {
		got, err := c.Blobs(ctx)
		if err != nil || got.Len() != blobs.Len() {
			t.Errorf("%s: %v, %v; want %d blobs", what, got, err, blobs.Len())
		}
	}
	raw, err := version2(c).Raw(ctx)
	if err != nil || !strings.Contains(string(raw), "etcd.v2") {
		t.Errorf("Raw: %s, %v", raw, err)
	}
	files["etcd/catalog.yaml"] = &fstest.MapFile{Data: []byte(strings.Replace(indexed, "etcd.v2", "etcd.v9", -1))}
	for what, c := range map[string]*graph.Catalog{"loaded": c, "opened": opened} {
		if _, err := c.Blobs(ctx); err == nil || !strings.Contains(err.Error(), "has changed since it was indexed") {
			t.Errorf("%s, of other files: %v", what, err)
		}
	}
	if _, err := version2(c).Raw(ctx); err == nil || !strings.Contains(err.Error(), "has changed since it was loaded") {
		t.Errorf("Raw of another file: %v", err)
	}
	read, err := graph.LoadReader(ctx, io.MultiReader(strings.NewReader(indexed)), "stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Blobs(ctx); !errors.Is(err, fbc.ErrNoSource) {
		t.Errorf("blobs of a stream: %v", err)
	}
	kept, err := graph.LoadReader(ctx, strings.NewReader(indexed), "stream", &graph.Options{Load: &fbc.LoadOptions{KeepAll: true}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := kept.Blobs(ctx); err != nil || got.Len() != blobs.Len() {
		t.Errorf("kept: %v, %v", got, err)
	}
}
