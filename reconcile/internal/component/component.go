// Package component labels the objects of operators and lists them in objects of kind
// Operator, as OLM does.
package component

import (
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A planner plans labels and Operators.
type planner struct {
	*world.World
	*change.Writer
	marks
}

// Label adds labels to the objects that the plan already writes, and plans updates of
// other objects that lack them (E30).
func Label(w *world.World, p *change.Writer) error {
	c := planner{w, p, newMarks(w)}
	c.labelChanges()
	return c.labelObjects()
}
