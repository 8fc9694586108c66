package content

import (
	"context"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// A View is a snapshot of all catalogs for a reconciliation. It is immutable
// and safe for concurrent use.
type View struct {
	store    *Store
	catalogs map[resolver.CatalogID]viewed
}

var _ reconcile.Content = (*View)(nil)

type viewed struct {
	*snapshot
	bundles *oci.Puller
	err     error // why the catalog cannot be used
}

// View returns a view of the catalogs as they are now.
func (s *Store) View() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.opts.Now()
	v := &View{store: s, catalogs: make(map[resolver.CatalogID]viewed, len(s.held))}
	for id, h := range s.held {
		switch {
		case s.usable(h, now):
			v.catalogs[id] = viewed{snapshot: h.snapshot, bundles: h.bundles}
		case h.err != nil:
			v.catalogs[id] = viewed{err: errors.New(clusterstatus.Shorten(h.err))}
		}
	}
	for id, since := range s.since {
		if now.Sub(since) >= s.opts.Patience {
			v.catalogs[id] = viewed{err: fmt.Errorf("not read within %v", s.opts.Patience)}
		}
	}
	return v
}

// Catalog returns the index of a catalog. The error is why it is unhealthy, or
// reconcile.ErrPending until the first attempt to read it has ended or
// Options.Patience has passed.
func (v *View) Catalog(_ context.Context, id resolver.CatalogID) (*graph.Catalog, error) {
	c, ok := v.catalogs[id]
	switch {
	case !ok:
		return nil, fmt.Errorf("catalog %s: %w", id, reconcile.ErrPending)
	case c.err != nil:
		return nil, fmt.Errorf("catalog %s: %w", id, c.err)
	}
	return c.Graph, nil
}

// Manifests returns the objects of a bundle: those in the catalog's
// olm.bundle.object properties, or else those in the bundle's image. They are
// shared and must not be modified.
func (v *View) Manifests(ctx context.Context, id resolver.CatalogID, b graph.Bundle) ([]olm.Object, error) {
	c, ok := v.catalogs[id]
	if !ok || c.snapshot == nil || b == (graph.Bundle{}) || b.Package().Catalog() != c.Graph {
		return nil, fmt.Errorf("catalog %s: the bundle belongs to another version of the catalog", id)
	}
	return v.store.objects.get(ctx, c.snapshot, b, c.bundles)
}

// A snapshot is the content of a catalog.
type snapshot struct {
	*Catalog
	id   resolver.CatalogID
	from string // the location; Version has a meaning only there
	size int64  // of the catalog in memory, in bytes
}

// find finds the manifests of a bundle.
func (c *snapshot) find(ctx context.Context, b graph.Bundle, bundles *oci.Puller) ([]olm.Object, error) {
	raw, err := c.raw(ctx, b)
	var objects []olm.Object
	switch {
	case err == nil:
		if objects, err = reconcile.BundleObjects(raw); err != nil {
			return nil, fmt.Errorf("catalog %s: %s: bundle %q: %w", c.id, b.Pos(), b.Name(), err)
		}
	case !errors.Is(err, fbc.ErrNoSource):
		return nil, fmt.Errorf("catalog %s: bundle %q: %w", c.id, b.Name(), err)
	}
	switch {
	case len(objects) > 0:
		return objects, nil
	case b.Image() == "":
		return nil, fmt.Errorf("catalog %s: %s: bundle %q has neither manifests in the catalog nor an image", c.id, b.Pos(), b.Name())
	case bundles == nil:
		return nil, fmt.Errorf("catalog %s: bundle %q: its manifests are in image %s, but %w", c.id, b.Name(), b.Image(), errNoPuller)
	}
	bundle, err := bundles.Bundle(ctx, b.Image())
	if err != nil {
		return nil, fmt.Errorf("catalog %s: bundle %q: %w", c.id, b.Name(), err)
	}
	for _, o := range bundle.Objects {
		if o.Kind == olm.KindClusterServiceVersion && o.Metadata.Name != b.Name() {
			return nil, fmt.Errorf("catalog %s: bundle %q: image %s contains a different operator, %s", c.id, b.Name(), b.Image(), o.Metadata.Name)
		}
	}
	return bundle.Objects, nil
}
