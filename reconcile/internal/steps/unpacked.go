package steps

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// A Source identifies a bundle by its catalog and the name of its CSV.
type Source struct {
	CSV, Catalog, Namespace string
	Replaces                string
	// Properties is the JSON of the bundle's properties, if known. It distinguishes
	// bundles with the same name in several packages.
	Properties string
}

// Unpacked returns the steps that install a bundle.
func (p *Builder) Unpacked(ctx context.Context, src Source) ([]olm.Step, error) {
	id := resolver.CatalogID{Name: src.Catalog, Namespace: src.Namespace}
	g, err := p.Content.Catalog(ctx, id)
	if err != nil {
		return nil, err
	}
	b, ok := findBundle(g, src)
	if !ok {
		return nil, fmt.Errorf("catalog %s has no bundle %q", id, src.CSV)
	}
	return p.bundleSteps(ctx, resolver.Selected{
		Name: src.CSV, Package: b.Package().Name(), Catalog: src.Catalog, CatalogNamespace: src.Namespace,
		Replaces: src.Replaces, Version: b.Version().String(), Bundle: b,
	})
}

// findBundle returns the bundle with a name. If several packages have one, the properties
// decide.
func findBundle(g *graph.Catalog, src Source) (found graph.Bundle, ok bool) {
	var pkg string
	if list, err := projected(src.Properties); err == nil {
		pkg = world.PackageOf(list)
	}
	for b := range g.Bundles() {
		if b.Name() == src.CSV && (!ok || b.Package().Name() == pkg) {
			found, ok = b, true
		}
	}
	return found, ok
}

// projected returns the properties in text, which has the form {"properties": […]} that
// references and annotations use.
func projected(text string) ([]property.Property, error) {
	var v struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return property.ParseList(v.Properties)
}
