package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// Catalogs is the content of file-based catalogs, by name and namespace. The
// manifests of a bundle come from its olm.bundle.object properties. It is safe
// for concurrent use as long as it is not modified.
type Catalogs struct {
	// StandIns replaces missing manifests: most catalogs have olm.csv.metadata in place of
	// the manifests, which are in the bundle's image. The CSV then has only what the
	// catalog states about it, without deployments, and CRDs have no schema. This is enough
	// for a dry run but not for an installation.
	StandIns bool

	byID    map[resolver.CatalogID]*graph.Catalog
	unknown map[resolver.CatalogID]*graph.Catalog
}

// Add adds a catalog, replacing any with the same ID.
func (c *Catalogs) Add(ctx context.Context, id resolver.CatalogID, blobs *fbc.Catalog) error {
	g, err := graph.Build(ctx, blobs, nil)
	if err != nil {
		return fmt.Errorf("catalog %s: %w", id, err)
	}
	c.AddGraph(id, g)
	return nil
}

// AddGraph is like [Catalogs.Add], for a catalog that is already indexed. A catalog opened
// from an index has manifests only if its files are available ([graph.Options]).
func (c *Catalogs) AddGraph(id resolver.CatalogID, g *graph.Catalog) {
	if c.byID == nil {
		c.byID = map[resolver.CatalogID]*graph.Catalog{}
	}
	c.byID[id] = g
}

// AddUnknown adds a catalog whose content is unknown.
func (c *Catalogs) AddUnknown(ctx context.Context, id resolver.CatalogID) error {
	g, err := graph.Build(ctx, &fbc.Catalog{}, nil)
	if err != nil {
		return fmt.Errorf("catalog %s: %w", id, err)
	}
	if c.unknown == nil {
		c.unknown = map[resolver.CatalogID]*graph.Catalog{}
	}
	c.unknown[id] = g
	return nil
}

// Catalog returns the index of a catalog.
func (c *Catalogs) Catalog(_ context.Context, id resolver.CatalogID) (*graph.Catalog, error) {
	if g, ok := c.byID[id]; ok {
		return g, nil
	}
	if g, ok := c.unknown[id]; ok {
		return g, fmt.Errorf("catalog %s: %w", id, ErrUnknown)
	}
	return nil, fmt.Errorf("catalog %s: its content is not available", id)
}

// Manifests returns the objects of a bundle. The error names the property that does not
// hold an object, or reports that the catalog does not contain the bundle's manifests.
func (c *Catalogs) Manifests(ctx context.Context, id resolver.CatalogID, b graph.Bundle) ([]olm.Object, error) {
	g, ok := c.byID[id]
	if !ok {
		return nil, fmt.Errorf("catalog %s: its content is not available", id)
	}
	pkg, _ := g.Package(b.Package().Name())
	b, ok = pkg.Bundle(b.Name())
	if !ok {
		return nil, fmt.Errorf("catalog %s: package %q has no bundle %q", id, b.Package().Name(), b.Name())
	}
	raw, err := b.Raw(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := bundleObjects(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("%s: bundle %q: %w", b.Pos(), b.Name(), err)
	}
	switch {
	case len(objects) > 0:
		return objects, nil
	case c.StandIns:
		list, err := propertiesOf(raw)
		if err != nil {
			return nil, fmt.Errorf("%s: bundle %q: %w", b.Pos(), b.Name(), err)
		}
		return standIns(b, list)
	}
	return nil, fmt.Errorf("%s: bundle %q: %w %s", b.Pos(), b.Name(), errNoManifests, b.Image())
}

// BundleObjects returns the objects in the olm.bundle.object properties of an olm.bundle
// blob, in order. It returns none if the catalog does not contain the manifests. The
// error has the JSON pointer of the property.
func BundleObjects(blob []byte) ([]olm.Object, error) {
	return bundleObjects(context.Background(), blob)
}

func bundleObjects(ctx context.Context, blob []byte) ([]olm.Object, error) {
	list, err := propertiesOf(blob)
	if err != nil {
		return nil, err
	}
	var objects []olm.Object
	room := int64(yamljson.DefaultExpansion)
	opts := &yamljson.Options{Expansion: &room}
	for i, p := range list {
		if p.Type != property.TypeBundleObject {
			continue
		}
		o, err := bundleObject(ctx, p.Value, opts)
		if err != nil {
			return nil, fmt.Errorf("/properties/%d: %w", i, err)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func propertiesOf(blob []byte) ([]property.Property, error) {
	var text struct {
		Properties []property.Property `json:"properties"`
	}
	if err := json.Unmarshal(blob, &text); err != nil {
		return nil, err
	}
	return text.Properties, nil
}

var errNoManifests = errors.New("the catalog does not contain the bundle's manifests; they are in the bundle's image")

// bundleObject returns the object of an olm.bundle.object property: its
// manifest, JSON or YAML, encoded as base64.
func bundleObject(ctx context.Context, value json.RawMessage, opts *yamljson.Options) (o olm.Object, err error) {
	var v struct {
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return o, fmt.Errorf("%s: %w", property.TypeBundleObject, err)
	}
	text, err := yamljson.JSON(ctx, v.Data, opts)
	if err != nil {
		return o, fmt.Errorf("%s: /data: %w", property.TypeBundleObject, err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("%s: /data: %w", property.TypeBundleObject, err)
	}
	if o.Kind == "" || o.Metadata.Name == "" && o.Metadata.GenerateName == "" {
		return o, fmt.Errorf("%s: /data: the manifest has no kind or no name", property.TypeBundleObject)
	}
	return o, nil
}
