package cli

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// ofCluster returns the problem of a namespace of a cluster, plus the packages and installed
// operators of the command line.
func (r *request) ofCluster(ctx context.Context, l *loader, paths []string) (*resolver.Problem, error) {
	if !r.cmd.Flags().Changed("namespace") {
		r.namespace = ""
	}
	c, content, err := r.load(ctx, l, paths)
	if err != nil {
		return nil, err
	}
	snapshot, err := c.Read(ctx, r.namespace)
	if err != nil {
		return nil, err
	}
	p, notes, err := reconcile.Problem(ctx, snapshot, content, nil)
	if err != nil {
		return nil, err
	}
	p.ID, r.snapshot = "", snapshot
	for _, n := range slices.Concat(r.inferred, notes) {
		visible.Fprintf(l.stderr, "note: %s\n", n)
	}
	if err := r.add(p, l); err != nil {
		return nil, err
	}
	if len(p.Subscriptions)+len(p.Installed) == 0 {
		return nil, usagef("namespace %s has no subscription and no operator; name packages with --package", r.namespace)
	}
	return p, nil
}
