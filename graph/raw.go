package graph

import (
	"context"
	"fmt"
	"sort"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
)

// Raw returns the whole blob of the package as JSON, with its description and
// icon, as [Bundle.Raw] does for a bundle.
func (p Package) Raw(ctx context.Context) (jsontext.Value, error) {
	blobs, err := p.c.blobsAt(ctx, p.Pos())
	if err != nil {
		return nil, fmt.Errorf("package %q: %w", p.Name(), err)
	}
	name, at := p.Name(), p.Pos()
	if x := findBlob(blobs.Packages, at, func(x *fbc.Package) bool { return x.Name == name }); x != nil {
		return blobs.Raw(ctx, x)
	}
	return nil, fmt.Errorf("%s: package %q is no longer there: the catalog has changed since it was indexed", at, name)
}

// Raw returns the whole blob of the bundle as JSON, heavy properties and unknown
// fields included. It reads the source of the catalog again where the load did
// not keep it; see [fbc.Catalog.Raw]. The catalog of an opened index needs
// [Options.Source] for that, else the error is [fbc.ErrNoSource], and reads the
// whole file that the bundle is in.
func (b Bundle) Raw(ctx context.Context) (jsontext.Value, error) {
	blobs, err := b.c.blobsAt(ctx, b.Pos())
	if err != nil {
		return nil, fmt.Errorf("bundle %q: %w", b.Name(), err)
	}
	pkg, name, at := b.Package().Name(), b.Name(), b.Pos()
	if x := findBlob(blobs.Bundles, at, func(x *fbc.Bundle) bool { return x.Name == name && x.Package == pkg }); x != nil {
		return blobs.Raw(ctx, x)
	}
	return nil, fmt.Errorf("%s: bundle %q is no longer there: the catalog has changed since it was indexed", at, name)
}

// blobsAt returns blobs among which those of a place are.
func (c *Catalog) blobsAt(ctx context.Context, at fbc.Pos) (*fbc.Catalog, error) {
	switch {
	case c.blobs != nil:
		return c.blobs, nil
	case c.files != nil:
		return c.file(ctx, at.File)
	}
	return nil, fmt.Errorf("%w; open the index with the files that it was made from", fbc.ErrNoSource)
}

// findBlob returns the blob at a place that is the one, or nil. Blobs lie in the
// order of their files, so that a search by position finds most at once; catalogs
// made in memory may lie otherwise.
func findBlob[B interface {
	*fbc.Package | *fbc.Bundle
	fbc.Blob
}](list []B, at fbc.Pos, is func(B) bool) B {
	i := sort.Search(len(list), func(i int) bool { return list[i].Common().Pos.Compare(at) >= 0 })
	if i < len(list) && list[i].Common().Pos == at && is(list[i]) {
		return list[i]
	}
	for _, x := range list {
		if x.Common().Pos == at && is(x) {
			return x
		}
	}
	return nil
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
