// Package installplan advances the install plans of a namespace: it unpacks their bundles
// and executes their steps.
package installplan

import (
	"context"
	"time"

	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/crd"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/steps"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Options are the fields of reconcile.Options that concern install plans.
type Options struct {
	CRDs crd.Options
	// Timeout is how long a failing plan is retried.
	Timeout time.Duration
}

// A planner plans the changes to install plans.
type planner struct {
	*steps.Builder
	keeper generated.Keeper
	opts   Options
}

// Execute advances the install plans of the namespace (E2). Only approved plans are
// executed.
func Execute(ctx context.Context, w *world.World, p *change.Writer, content catalog.Content, opts Options) error {
	return (&planner{&steps.Builder{World: w, Writer: p, Content: content}, generated.Keeper{World: w, Writer: p}, opts}).executePlans(ctx)
}

// Attenuate adds notes about the steps of unfinished install plans that the service account
// of the operator group is not permitted to execute (F10).
func Attenuate(w *world.World, p *change.Writer) {
	(&planner{Builder: &steps.Builder{World: w, Writer: p}}).attenuatePlans()
}
