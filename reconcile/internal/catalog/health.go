package catalog

import (
	"cmp"
	"context"
	"errors"

	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// A Health is the known state of a catalog.
type Health struct {
	Source *olm.CatalogSource
	Entry  resolver.Catalog
}

// Unread returns ErrPending if a catalog that the namespace may need has not been read yet.
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
		entry.Unhealthy = NotReady(c)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case entry.Unhealthy != "":
		case errors.Is(err, ErrUnknown):
			entry.Unknown = true
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

// NotReady returns why a catalog is not ready, or "".
func NotReady(c *olm.CatalogSource) string {
	switch state := c.Status.ConnectionState; {
	case c.Status.Reason == "SpecInvalidError":
		return cmp.Or(c.Status.Message, c.Status.Reason)
	case state != nil && state.LastObservedState != olm.ConnectionReady:
		return "its connection is " + cmp.Or(state.LastObservedState, "unknown")
	}
	return ""
}

// Missing notes the CatalogSources that subscriptions name and that do not exist although
// there is content for them: without the object, a namespace does not see a catalog (D14).
func Missing(ctx context.Context, w *world.World, p *change.Writer, content Content) error {
	done := map[resolver.CatalogID]bool{}
	for _, c := range w.CatalogSources {
		done[resolver.CatalogID{Name: c.Metadata.Name, Namespace: c.Metadata.Namespace}] = true
	}
	for _, s := range w.Subscriptions {
		id := resolver.CatalogID{Name: s.Spec.Source, Namespace: s.Spec.SourceNamespace}
		if done[id] || id.Namespace != w.Namespace && id.Namespace != w.GlobalNamespace {
			continue
		}
		done[id] = true
		if _, err := content.Catalog(ctx, id); ctx.Err() != nil {
			return context.Cause(ctx)
		} else if err != nil {
			continue // without content, the refusal reports the missing catalog
		}
		key := olm.Key{Group: olm.Group, Kind: olm.KindCatalogSource, Namespace: id.Namespace, Name: id.Name}
		p.Note(key, "does not exist, so subscription %q cannot use the content of the catalog; create the CatalogSource", s.Metadata.Name).Rule = "D14"
	}
	return nil
}
