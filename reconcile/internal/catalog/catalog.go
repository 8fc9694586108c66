// Package catalog reads the catalogs that a namespace sees, and plans the images of
// catalogs with image templates.
package catalog

import (
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"

	"context"
	"errors"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// Content provides what catalogs contain, as reconcile.Content does.
type Content interface {
	Catalog(ctx context.Context, id resolver.CatalogID) (*graph.Catalog, error)
	Manifests(ctx context.Context, id resolver.CatalogID, b graph.Bundle) ([]olm.Object, error)
}

// ErrPending is the error for a catalog that has not been read yet.
var ErrPending = errors.New("the catalog has not been read yet")

// ErrUnknown is the error for a catalog whose content is unknown.
var ErrUnknown = errors.New("its content is unknown")

// A planner plans the changes to CatalogSources.
type planner struct {
	*world.World
	*change.Writer
}

// Templates plans the images of the namespace's catalogs with image templates, which depend
// on the version of the cluster (E8).
func Templates(w *world.World, p *change.Writer) error { return (&planner{w, p}).templates() }
