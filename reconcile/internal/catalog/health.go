package catalog

import (
	"cmp"
	"context"
	"errors"

	"github.com/olmkit/olmkit/reconcile/internal/world"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// A Health is the known state of a catalog.
type Health struct {
	Source *olm.CatalogSource
	Entry  resolver.Catalog
}

// Unread returns ErrPending while a catalog that the namespace may need has not been read.
func Unread(ctx context.Context, w *world.World, content Content) error {
	if len(w.Subscriptions) == 0 && len(w.InstallPlans) == 0 {
		return nil
	}
	for _, c := range w.VisibleCatalogs() {
		id := resolver.CatalogID{Name: c.Metadata.Name, Namespace: c.Metadata.Namespace}
		if _, err := content.Catalog(ctx, id); errors.Is(err, ErrPending) {
			return err
		}
	}
	return nil
}

// Read returns the catalogs that the namespace sees, healthy or not (D14).
func Read(ctx context.Context, w *world.World, content Content) ([]Health, error) {
	var list []Health
	for _, c := range w.VisibleCatalogs() {
		entry := resolver.Catalog{Name: c.Metadata.Name, Namespace: c.Metadata.Namespace, Priority: c.Spec.Priority}
		g, err := content.Catalog(ctx, entry.ID())
		switch state := c.Status.ConnectionState; {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case c.Status.Reason == "SpecInvalidError":
			entry.Unhealthy = cmp.Or(c.Status.Message, c.Status.Reason)
		case state != nil && state.LastObservedState != olm.ConnectionReady:
			entry.Unhealthy = "its connection is " + cmp.Or(state.LastObservedState, "unknown")
		case err != nil:
			entry.Unhealthy = err.Error()
		}
		if entry.Unhealthy == "" {
			entry.Graph = g
		}
		list = append(list, Health{c, entry})
	}
	return list, nil
}
