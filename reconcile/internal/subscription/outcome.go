// Package subscription keeps the status of subscriptions, resolves them together and
// creates install plans for the outcome.
package subscription

import (
	"context"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/steps"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// Options are those of reconcile.Options that are for resolutions.
type Options struct {
	Resolver resolver.Options
	// Resolve is resolver.Resolve or replaces it.
	Resolve func(context.Context, resolver.Problem) (*resolver.Solution, error)
}

// An Outcome is what later concerns and users need of a resolution.
type Outcome struct {
	// Created is the install plan that is created now, or nil.
	Created *olm.InstallPlan
	// Moved are the subscriptions that refer to it next, or to one without steps.
	Moved map[*olm.Subscription]bool
	// Problem is what was resolved, if anything, Solution its solution and Refused
	// why there is none or not all of it.
	Problem  *resolver.Problem
	Solution *resolver.Solution
	Refused  error
	// Unusable is the chosen bundle whose manifests cannot be used, or nil.
	Unusable *steps.ManifestError
}

// A planner plans the changes of subscriptions, and new install plans.
type planner struct {
	*steps.Builder
	opts Options
	Outcome
}

// Follow keeps the status of the subscriptions (E1, E4, E5), resolves them together (E9)
// and plans an install plan for the outcome (E2).
func Follow(ctx context.Context, w *world.World, p *change.Writer, content catalog.Content, opts Options) (Outcome, error) {
	s := planner{&steps.Builder{World: w, Writer: p, Content: content}, opts, Outcome{Moved: map[*olm.Subscription]bool{}}}
	err := s.subscriptions(ctx)
	return s.Outcome, err
}
