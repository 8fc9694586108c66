// Package component marks the objects of operators with labels and lists them in objects
// of kind Operator, which is where OLM's users and other programs look for them.
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

// Label adds labels to what the plan writes so far, and plans updates of other objects
// that lack them (E30).
func Label(w *world.World, p *change.Writer) error {
	c := planner{w, p, newMarks(w)}
	c.labelChanges()
	return c.labelObjects()
}
