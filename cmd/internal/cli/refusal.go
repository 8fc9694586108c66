package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// unready reports whether an obstacle is a catalog that is not ready.
func unready(o reconcile.Obstacle) bool { return o.By == resolver.HeldByCatalog }

// differs reports whether an obstacle is that the running OLM decides otherwise.
func differs(o reconcile.Obstacle) bool { return o.By == resolver.HeldByDifference }

// ofOLM reports whether an obstacle is one for the running OLM, but not for olmkit-controller.
func ofOLM(o reconcile.Obstacle) bool { return differs(o) || o.By == resolver.HeldByUnpacking }

// anticipate adds to the obstacles that are catalogs what the problem of their namespace resolves to without them,
// and to a bundle that the running OLM refuses what it chooses instead.
func anticipate(ctx context.Context, obstacles []reconcile.Obstacle, p resolver.Problem) error {
	if err := foresee(ctx, obstacles, p); err != nil {
		return err
	}
	i := slices.IndexFunc(obstacles, unready)
	if i < 0 {
		return nil
	}
	p.Options.IgnoreUnhealthy = true
	sol, err := resolver.Resolve(ctx, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return nil // it needs one of them
	}
	var names []string
	for _, s := range sol.Selected {
		names = append(names, s.Name)
	}
	without := "it"
	if slices.ContainsFunc(obstacles[i+1:], unready) {
		without = "the catalogs that are not ready"
	}
	for j := range obstacles {
		if o := &obstacles[j]; unready(*o) && len(names) > 0 {
			o.Reason += fmt.Sprintf("; without %s, %s would be next", without, phrase.And(names))
		}
	}
	return nil
}

// foresee adds to the last bundle that the running OLM refuses what it chooses instead. If it resolves nothing in
// the whole namespace, the obstacles state that.
func foresee(ctx context.Context, obstacles []reconcile.Obstacle, p resolver.Problem) error {
	last := -1
	for i, o := range obstacles {
		if differs(o) && o.Bundle == "" {
			return nil
		}
		if differs(o) && len(o.Commands) == 0 { // otherwise it does not look
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	p.Options.Semantics = resolver.PerBundle
	sol, err := resolver.Resolve(ctx, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := ". Therefore, it resolves nothing in the namespace"
	if err == nil {
		var names []string
		for _, s := range sol.Selected {
			if !followsItself(s) {
				names = append(names, s.Name)
			}
		}
		text = ". Instead, it installs " + phrase.And(names)
		if len(names) == 0 {
			text = ". It keeps the installed operators"
		}
	}
	obstacles[last].Reason += text
	return nil
}

// obstacles returns what keeps the bundles of a solution of a namespace, which may be nil, from running.
func obstacles(ctx context.Context, s *reconcile.Snapshot, sol *resolver.Solution, content reconcile.Content) ([]reconcile.Obstacle, error) {
	list, err := reconcile.Obstacles(ctx, s, sol)
	if err == nil {
		err = reconcile.FailForward(ctx, list, s, content)
	}
	if err != nil || !slices.ContainsFunc(list, func(o reconcile.Obstacle) bool { return unready(o) || differs(o) }) {
		return list, err
	}
	p, _, err := reconcile.Problem(ctx, s, content, nil)
	if err != nil {
		return nil, err
	}
	return list, anticipate(ctx, list, *p)
}

// refusal returns why the subscriptions cannot be resolved, or "".
func refusal(p *reconcile.Plan) string {
	if p == nil || p.Refused == nil {
		return ""
	}
	return cmp.Or(p.Refused.Error(), "refused")
}

// conflictReport returns the full explanation of why subscriptions cannot be resolved. It
// returns nil if they can, or if the reason is not a conflict.
func conflictReport(ctx context.Context, p *reconcile.Plan) (*resolver.Report, error) {
	var no *resolver.Conflict
	if p == nil || !errors.As(p.Refused, &no) {
		return nil, nil
	}
	return no.Report(ctx)
}

// writeRefusal writes why subscriptions cannot be resolved: the explanation, or the reason if
// there is none. It writes nothing if they can, or if one of the obstacles is the reason.
func writeRefusal(w io.Writer, reason string, r *resolver.Report, obstacles []reconcile.Obstacle) error {
	var err error
	switch {
	case r == nil && slices.ContainsFunc(obstacles, unready):
	case r != nil:
		_, err = visible.Fprintf(w, "The subscriptions cannot be resolved:\n\n%s", visible.Block(r.Text(textWidth(w), styleFor(w))))
	case reason != "":
		_, err = visible.Fprintf(w, "The subscriptions cannot be resolved: %s\n", reason)
	}
	return err
}
