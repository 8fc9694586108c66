// Package cleanup deletes old install plans and objects whose owner is gone, and adds notes
// about failed install plans.
package cleanup

import (
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A planner plans the clean-up.
type planner struct{ *generated.Keeper }

// Garbage deletes the oldest install plans, and objects that were created for CSVs and
// groups that are gone or no longer need them.
func Garbage(w *world.World, p *change.Writer, naming operatorgroup.Naming) error {
	return (&planner{&generated.Keeper{World: w, Writer: p, Naming: naming}}).garbage()
}
