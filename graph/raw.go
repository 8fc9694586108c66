package graph

import (
	"context"
	"fmt"
	"sort"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
)

// Raw returns the whole blob of the bundle as JSON, heavy properties and unknown
// fields included. It reads the source of the catalog again where the load did
// not keep it; see [fbc.Catalog.Raw].
func (b Bundle) Raw(ctx context.Context) (jsontext.Value, error) {
	if b.c.blobs == nil {
		return nil, fmt.Errorf("bundle %q: the catalog has no source to read again", b.Name())
	}
	list := b.c.blobs.Bundles
	pkg, name, at := b.Package().Name(), b.Name(), b.Pos()
	is := func(x *fbc.Bundle) bool { return x.Name == name && x.Package == pkg && x.Pos == at }
	// Blobs lie in the order of their files, so that a search by position finds
	// most at once; catalogs made in memory may lie otherwise.
	i := sort.Search(len(list), func(i int) bool { return list[i].Pos.Compare(at) >= 0 })
	if i < len(list) && is(list[i]) {
		return b.c.blobs.Raw(ctx, list[i])
	}
	for _, x := range list {
		if is(x) {
			return b.c.blobs.Raw(ctx, x)
		}
	}
	return nil, fmt.Errorf("bundle %q: its blob is gone from the catalog", name)
}

// Blobs returns the blobs that the catalog was built from, nil when it was not
// built from blobs. The caller must not modify them.
func (c *Catalog) Blobs() *fbc.Catalog { return c.blobs }
