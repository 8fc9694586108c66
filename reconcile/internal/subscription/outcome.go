// Package subscription maintains the status of subscriptions, resolves them together and
// creates install plans for the result.
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

// Options are the fields of reconcile.Options that concern resolution.
type Options struct {
	Resolver resolver.Options
	Policies []resolver.Policy
	// Resolve is resolver.Resolve or a replacement for it.
	Resolve func(context.Context, resolver.Problem) (*resolver.Solution, error)
}

// An Outcome holds the parts of a resolution's result that other packages and users need.
type Outcome struct {
	// Created is the install plan that is being created, or nil.
	Created *olm.InstallPlan
	// Moved holds the subscriptions that will refer to Created, or to a plan without steps.
	Moved map[*olm.Subscription]bool
	// Problem is the resolved problem, or nil. Solution is its solution, and Refused is why
	// there is none or only a partial one.
	Problem  *resolver.Problem
	Solution *resolver.Solution
	Refused  error
	// Unusable is the chosen bundle whose manifests cannot be used, or nil.
	Unusable *steps.ManifestError
}

// A planner plans the changes to subscriptions, and new install plans.
type planner struct {
	*steps.Builder
	opts Options
	Outcome
	refusal refusal
}

// A refusal is why subscriptions cannot be resolved, as a condition, and as the message of
// the event about it.
type refusal struct {
	condition olm.Condition
	event     string
}

// Follow maintains the status of the subscriptions (E1, E4, E5), resolves them together
// (E9) and plans an install plan for the result (E2).
func Follow(ctx context.Context, w *world.World, p *change.Writer, content catalog.Content, opts Options) (Outcome, error) {
	s := planner{Builder: &steps.Builder{World: w, Writer: p, Content: content}, opts: opts, Outcome: Outcome{Moved: map[*olm.Subscription]bool{}}}
	err := s.subscriptions(ctx)
	return s.Outcome, err
}
