package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// unread is a content whose catalogs have not been read yet.
type unread struct{ reconcile.Content }

func (unread) Catalog(_ context.Context, id resolver.CatalogID) (*graph.Catalog, error) {
	return nil, fmt.Errorf("catalog %s: %w", id, reconcile.ErrPending)
}

// D14: while a catalog has not been read, it is not reported as unhealthy, whatever the
// state of the namespace.
func TestPendingCatalog(t *testing.T) {
	held := 0
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		w := newWorld(t, a)
		snapshot, err := w.Read(context.Background(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		before := dumpOf(t, w)
		loop := &reconcile.Loop{Cluster: w, Content: unread{w.content}}
		result, err := loop.Run(context.Background(), testNamespace)
		if len(snapshot.CatalogSources) == 0 || len(snapshot.Subscriptions)+len(snapshot.InstallPlans) == 0 {
			return
		}
		gs := snapshot.OperatorGroups
		if len(gs) == 1 && gs[0].Metadata.Annotations["olm.operatorframework.io/exclude-global-namespace-resolution"] == "true" &&
			!slices.ContainsFunc(snapshot.CatalogSources, func(c *olm.CatalogSource) bool { return c.Metadata.Namespace == testNamespace }) {
			return
		}
		held++
		if !errors.Is(err, reconcile.ErrPending) || result.Changes != 0 {
			t.Errorf("%d changes and error %v; want none, and ErrPending", result.Changes, err)
		}
		if after := dumpOf(t, w); after != before {
			t.Error("something was written")
		}
	})
	if held == 0 {
		t.Error("no scenario has a subscription and a catalog")
	}
}

func dumpOf(t *testing.T, w *world) string {
	t.Helper()
	text, err := json.Marshal(w.List())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
