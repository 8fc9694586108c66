// Package group maintains the operator groups of a namespace: their status, provided APIs
// and roles, and the copies of CSVs in their target namespaces.
package group

import (
	"context"

	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A planner plans the changes to operator groups.
type planner struct{ *generated.Keeper }

// Keep updates the status, the annotation and the roles of the groups of the namespace
// (F1, F3, F5, F7).
func Keep(w *world.World, p *change.Writer, naming operatorgroup.Naming) error {
	return (&planner{&generated.Keeper{World: w, Writer: p, Naming: naming}}).operatorGroups()
}

// Copy maintains the copies of the namespace's CSVs in the targets of its group (F8).
func Copy(ctx context.Context, w *world.World, p *change.Writer, disabled operatorgroup.CopyMode) error {
	return (&planner{&generated.Keeper{World: w, Writer: p}}).copies(ctx, disabled)
}
