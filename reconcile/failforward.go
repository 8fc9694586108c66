package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// FailForward adds to the obstacles that are failed operators what OLM would upgrade them to with upgradeStrategy
// TechPreviewUnsafeFailForward, and the command that sets it. It adds nothing if that is nothing, or cannot be
// resolved. The error is the context's.
func FailForward(ctx context.Context, list []Obstacle, s *Snapshot, content Content) error { // E10
	w := s.world()
	failed := func(o Obstacle) bool {
		c := w.CSV(o.Bundle)
		return o.By == resolver.HeldByUnready && c != nil && c.Status.Phase == olm.PhaseFailed
	}
	if len(w.Groups()) != 1 || w.FailForward() || !slices.ContainsFunc(list, failed) {
		return nil
	}
	g, changed := *w.Groups()[0], *s
	g.Spec.UpgradeStrategy = olm.UpgradeFailForward
	changed.OperatorGroups = slices.Clone(s.OperatorGroups)
	changed.OperatorGroups[slices.Index(s.OperatorGroups, w.Groups()[0])] = &g
	p, _, err := Problem(ctx, &changed, content, nil)
	if err != nil {
		return err
	}
	sol, err := resolver.Resolve(ctx, *p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return nil
	}
	for i := range list {
		for _, x := range sol.Selected {
			if o := &list[i]; failed(*o) && x.Replaces == o.Bundle {
				if o.Remedy != "" {
					o.Remedy += "; or, "
				}
				o.Remedy += fmt.Sprintf("at your own risk, set upgradeStrategy %s on operator group %s, which lets OLM replace failed operators in the whole namespace: it then upgrades to %s",
					olm.UpgradeFailForward, g.Metadata.Name, x.Name)
				o.add("or, at your own risk, to upgrade over failures in the whole namespace",
					kubectl.Patch("operatorgroup."+olm.Group, w.Namespace, g.Metadata.Name, map[string]any{"upgradeStrategy": string(olm.UpgradeFailForward)}))
			}
		}
	}
	return nil
}
