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
// not keep it; see [fbc.Catalog.Raw]. The catalog of an opened index needs
// [Options.Source] for that, else the error is [fbc.ErrNoSource], and reads the
// whole file that the bundle is in.
func (b Bundle) Raw(ctx context.Context) (jsontext.Value, error) {
	blobs := b.c.blobs
	switch {
	case blobs != nil:
	case b.c.files != nil:
		var err error
		if blobs, err = b.c.file(ctx, b.Pos().File); err != nil {
			return nil, fmt.Errorf("bundle %q: %w", b.Name(), err)
		}
	default:
		return nil, fmt.Errorf("bundle %q: %w; open the index with the files that it was made from", b.Name(), fbc.ErrNoSource)
	}
	list := blobs.Bundles
	pkg, name, at := b.Package().Name(), b.Name(), b.Pos()
	is := func(x *fbc.Bundle) bool { return x.Name == name && x.Package == pkg && x.Pos == at }
	// Blobs lie in the order of their files, so that a search by position finds
	// most at once; catalogs made in memory may lie otherwise.
	i := sort.Search(len(list), func(i int) bool { return list[i].Pos.Compare(at) >= 0 })
	if i < len(list) && is(list[i]) {
		return blobs.Raw(ctx, list[i])
	}
	for _, x := range list {
		if is(x) {
			return blobs.Raw(ctx, x)
		}
	}
	return nil, fmt.Errorf("%s: bundle %q is no longer there: the catalog has changed since it was indexed", at, name)
}

// file loads one file of the source of an opened index, with all its text.
func (c *Catalog) file(ctx context.Context, name string) (*fbc.Catalog, error) {
	f, err := c.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var opts fbc.LoadOptions
	if c.load != nil {
		opts = *c.load
	}
	opts.Keep, opts.Progress = fbc.KeepAll, nil
	return fbc.LoadReader(ctx, f, name, &opts)
}

// Blobs returns the blobs that the catalog was built from, nil when it was not
// built from blobs. The caller must not modify them.
func (c *Catalog) Blobs() *fbc.Catalog { return c.blobs }
