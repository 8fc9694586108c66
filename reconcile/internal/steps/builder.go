// Package steps computes the steps of install plans from bundles, in order and within the
// size limit of an object.
package steps

import (
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A Builder computes the steps of an install plan.
type Builder struct {
	*world.World
	*change.Writer
	Content catalog.Content
}
