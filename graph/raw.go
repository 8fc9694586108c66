package graph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/property"
)

// Raw returns the whole blob of the package as JSON, with its description and icon; see
// [Bundle.Raw].
func (p Package) Raw(ctx context.Context) ([]byte, error) {
	if !p.Pos().IsValid() {
		return nil, fmt.Errorf("package %q has no %s blob", p.Name(), fbc.SchemaPackage)
	}
	if texts := p.c.packageTexts; texts != nil {
		return texts[p.i].Raw(ctx, &fbc.Meta{Schema: fbc.SchemaPackage, Package: p.Name(), Name: p.Name(), Pos: p.Pos()})
	}
	blobs, err := p.c.blobsAt(ctx, p.Pos())
	if err != nil {
		return nil, fmt.Errorf("package %q: %w", p.Name(), err)
	}
	name, at := p.Name(), p.Pos()
	if x := findBlob(blobs.Packages, at, func(x *fbc.Package) bool { return x.Name == name }); x != nil {
		return blobs.Raw(ctx, x)
	}
	return nil, fmt.Errorf("%s: package %q is missing: the catalog has changed since it was indexed; index it again", at, name)
}

// Raw returns the whole blob of the bundle as JSON, with heavy properties and unknown
// fields. If the load did not keep it, Raw reads the source of the catalog again; see
// [fbc.Catalog.Raw]. An opened index needs [Options.Source], and reads the whole file
// of the bundle; without it the error is [fbc.ErrNoSource].
func (b Bundle) Raw(ctx context.Context) ([]byte, error) {
	if texts := b.c.texts; texts != nil {
		return texts[b.i].Raw(ctx, &fbc.Meta{Schema: fbc.SchemaBundle, Package: b.Package().Name(), Name: b.Name(), Pos: b.Pos()})
	}
	blobs, err := b.c.blobsAt(ctx, b.Pos())
	if err != nil {
		return nil, fmt.Errorf("bundle %q: %w", b.Name(), err)
	}
	pkg, name, at := b.Package().Name(), b.Name(), b.Pos()
	if x := findBlob(blobs.Bundles, at, func(x *fbc.Bundle) bool { return x.Name == name && x.Package == pkg }); x != nil {
		return blobs.Raw(ctx, x)
	}
	return nil, fmt.Errorf("%s: bundle %q is missing: the catalog has changed since it was indexed; index it again", at, name)
}

// Others returns the blobs of the package with a schema that OLM does not define, as JSON,
// in order of position. It reads them as [Bundle.Raw] does.
func (p Package) Others(ctx context.Context, schema string) ([][]byte, error) {
	var out [][]byte
	for i := range p.c.others {
		o := &p.c.others[i]
		if o.Package != p.Name() || o.Schema != schema {
			continue
		}
		raw, err := p.c.other(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s of package %q: %w", schema, o.Package, err)
		}
		out = append(out, raw)
	}
	return out, nil
}

func (c *Catalog) other(ctx context.Context, o *other) ([]byte, error) {
	meta := o.meta()
	if c.blobs == nil && c.files == nil {
		return o.text.Raw(ctx, meta)
	}
	blobs, err := c.blobsAt(ctx, meta.Pos)
	if err != nil {
		return nil, err
	}
	for _, x := range blobs.Others {
		if x.Pos == meta.Pos && x.Schema == o.Schema && x.Package == o.Package {
			return blobs.Raw(ctx, x)
		}
	}
	return nil, fmt.Errorf("%s: the blob is missing: the catalog has changed since it was indexed; index it again", meta.Pos)
}

// blobsAt returns blobs that include those at a place.
func (c *Catalog) blobsAt(ctx context.Context, at fbc.Pos) (*fbc.Catalog, error) {
	switch {
	case c.blobs != nil:
		return c.blobs, nil
	case c.files != nil:
		return c.file(ctx, at.File)
	}
	return nil, fmt.Errorf("%w; open the index with the files that it was built from", fbc.ErrNoSource)
}

// findBlob returns the wanted blob at a place, or nil. Blobs are in the order of their
// files, so a search by position finds most of them. Catalogs made in memory may have
// another order.
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
	// The name is from the index, which may come from anywhere.
	info, err := fs.Stat(c.files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file: the catalog has changed since it was indexed; index it again", name)
	}
	f, err := c.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var opts fbc.LoadOptions
	if c.load != nil {
		opts = *c.load
	}
	opts.KeepAll, opts.Progress = true, nil
	return fbc.LoadReader(ctx, f, name, &opts)
}

// Blobs returns the blobs from which the catalog was built. If they were not kept
// ([Load]), it reads them from the source again. An opened index needs
// [Options.Source]; without it the error is [fbc.ErrNoSource]. It returns an error if
// the source has changed. The caller must not modify the blobs.
func (c *Catalog) Blobs(ctx context.Context) (*fbc.Catalog, error) {
	if c.blobs != nil {
		return c.blobs, nil
	}
	if c.reload == nil {
		return nil, fbc.ErrNoSource
	}
	blobs, err := c.reload(ctx)
	if err != nil {
		return nil, err
	}
	now, err := Build(ctx, blobs, nil)
	if err != nil {
		return nil, err
	}
	if now.Digest() != c.Digest() {
		return nil, errors.New("the catalog has changed since it was indexed; index it again")
	}
	return blobs, nil
}

// keepsAll reports whether the catalog has values that only KeepAll keeps.
func (c *Catalog) keepsAll() bool {
	if c.parts != nil {
		for part := range c.parts.all() {
			if part.keepsAll() {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(c.props, func(p propRec) bool { return p.value > 0 && property.IsHeavy(c.str(p.typ)) })
}
