// Package steps makes the steps of install plans: what bundles install, in order and
// within the size of an install plan.
package steps

import (
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A Builder makes steps.
type Builder struct {
	*world.World
	*change.Writer
	Content catalog.Content
}
