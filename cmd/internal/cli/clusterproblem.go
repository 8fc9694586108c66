package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
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
	noteAll(l, r.inferred)
	p, err := r.problemOf(ctx, l, c, content, r.namespace)
	if err != nil {
		return nil, err
	}
	if err := r.add(p, l); err != nil {
		return nil, err
	}
	if len(p.Subscriptions)+len(p.Installed) == 0 {
		return nil, usagef("namespace %s has no subscription and no operator; name packages with --package%s", r.namespace, extensionsOf(c))
	}
	return p, nil
}

// problemOf returns the problem of a namespace, and prints notes about it.
func (r *request) problemOf(ctx context.Context, l *loader, c *memcluster.Cluster, content *reconcile.Catalogs, namespace string) (*resolver.Problem, error) {
	if err := r.resolvable(c, namespace); err != nil {
		return nil, err
	}
	snapshot, err := c.Read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	p, notes, err := reconcile.Problem(ctx, snapshot, content, nil)
	if err != nil {
		return nil, err
	}
	noteAll(l, slices.DeleteFunc(notes, func(n reconcile.Note) bool {
		return slices.ContainsFunc(p.Installed, func(in resolver.Installed) bool { return in.Held == n.Message }) // which the answer states
	}))
	p.ID, r.snapshot = "", snapshot
	return p, nil
}

// extensionsOf returns the continuation of a message about a cluster without subscriptions: which commands answer
// questions about its ClusterExtensions, or "" if it has none.
func extensionsOf(c *memcluster.Cluster) string {
	var first *olm.Header
	n := 0
	for _, o := range c.List() {
		if k := o.Key(); k.Group == groupV1 && k.Kind == kindExtension {
			if n++; first == nil || o.Metadata.Name < first.Metadata.Name {
				first = &o.Header
			}
		}
	}
	what := "ClusterExtension"
	switch {
	case n == 0:
		return ""
	case n > 1:
		what = phrase.Count(n, what)
	}
	return fmt.Sprintf("; this command reads Subscriptions. For the %s, run \"olmkit select --package PACKAGE\" or \"olmkit plan --extension %s\"",
		what, first.Metadata.Name)
}
