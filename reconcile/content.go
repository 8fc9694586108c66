package reconcile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
	"sigs.k8s.io/yaml"
)

// Catalogs is the content of file-based catalogs, by name and namespace. The
// manifests of a bundle come from its olm.bundle.object properties. It is safe
// for use by several goroutines, as long as nobody changes it.
type Catalogs struct {
	// StandIns makes up what a catalog does not carry: most have olm.csv.metadata
	// in place of the manifests, which are in the bundle's image. The CSV then
	// has what the catalog says of it and no deployments, and CRDs have no
	// schema: enough to say what would happen, not to install.
	StandIns bool

	byID map[resolver.CatalogID]*graph.Catalog
}

// Add adds a catalog, or puts it in the place of one.
func (c *Catalogs) Add(ctx context.Context, id resolver.CatalogID, blobs *fbc.Catalog) error {
	g, err := graph.Build(ctx, blobs, nil)
	if err != nil {
		return fmt.Errorf("catalog %s: %w", id, err)
	}
	c.AddGraph(id, g)
	return nil
}

// AddGraph is [Catalogs.Add] for a catalog that is indexed already. One that was
// opened from an index gives manifests only with its files ([graph.Options]).
func (c *Catalogs) AddGraph(id resolver.CatalogID, g *graph.Catalog) {
	if c.byID == nil {
		c.byID = map[resolver.CatalogID]*graph.Catalog{}
	}
	c.byID[id] = g
}

// Catalog returns the index of a catalog.
func (c *Catalogs) Catalog(_ context.Context, id resolver.CatalogID) (*graph.Catalog, error) {
	if g, ok := c.byID[id]; ok {
		return g, nil
	}
	return nil, fmt.Errorf("catalog %s: its content is not at hand", id)
}

// Manifests returns the objects of a bundle. The error says which property
// holds what is no object, or that the bundle's manifests are elsewhere.
func (c *Catalogs) Manifests(ctx context.Context, id resolver.CatalogID, b graph.Bundle) ([]olm.Object, error) {
	g, ok := c.byID[id]
	if !ok {
		return nil, fmt.Errorf("catalog %s: its content is not at hand", id)
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
	var text struct {
		Properties []property.Property `json:"properties"`
	}
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, fmt.Errorf("%s: %w", b.Pos(), err)
	}
	var objects []olm.Object
	for i, p := range text.Properties {
		if p.Type != property.TypeBundleObject {
			continue
		}
		o, err := bundleObject(p.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: bundle %q: /properties/%d: %w", b.Pos(), b.Name(), i, err)
		}
		objects = append(objects, o)
	}
	switch {
	case len(objects) > 0:
		return objects, nil
	case c.StandIns:
		return standIns(b, text.Properties)
	}
	return nil, fmt.Errorf("%s: bundle %q: %w %s", b.Pos(), b.Name(), errNoManifests, b.Image())
}

var errNoManifests = errors.New("the catalog does not carry the bundle's manifests: they are in its image")

// bundleObject returns the object of an olm.bundle.object property: its
// manifest, JSON or YAML, encoded as base64.
func bundleObject(value json.RawMessage) (o olm.Object, err error) {
	var v struct {
		Data []byte `json:"data"`
	}
	if err := json.Unmarshal(value, &v); err != nil {
		return o, fmt.Errorf("%s: %w", property.TypeBundleObject, err)
	}
	text := bytes.TrimSpace(v.Data)
	if len(text) == 0 || text[0] != '{' {
		if text, err = yaml.YAMLToJSON(text); err != nil {
			return o, fmt.Errorf("%s: /data: %w", property.TypeBundleObject, err)
		}
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("%s: /data: %w", property.TypeBundleObject, err)
	}
	if o.Kind == "" || o.Metadata.Name == "" && o.Metadata.GenerateName == "" {
		return o, fmt.Errorf("%s: /data: a manifest without a kind or a name", property.TypeBundleObject)
	}
	return o, nil
}
