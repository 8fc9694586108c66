package cli

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// addAllNamespaces adds --all-namespaces to a command about one namespace. The other flags are for
// one namespace only.
func (s *clusterState) addAllNamespaces(cmd *cobra.Command, usage string, others ...string) {
	s.single = true
	cmd.Flags().BoolVarP(&s.all, "all-namespaces", "A", false, usage)
	for _, name := range append(others, "namespace") {
		cmd.MarkFlagsMutuallyExclusive("all-namespaces", name)
	}
}

// inhabited returns the namespaces of a cluster that have operators, or objects from which
// operators are installed, sorted.
func inhabited(c *memcluster.Cluster) []string {
	found := map[string]bool{}
	for _, o := range c.List() {
		switch o.Kind {
		case olm.KindSubscription, olm.KindOperatorGroup, olm.KindInstallPlan:
			found[o.Metadata.Namespace] = o.Key().Group == olm.Group || found[o.Metadata.Namespace]
		case olm.KindClusterServiceVersion:
			if _, isCopy := o.Metadata.Labels[olm.LabelCopiedFrom]; !isCopy {
				found[o.Metadata.Namespace] = true
			}
		}
	}
	maps.DeleteFunc(found, func(_ string, ours bool) bool { return !ours })
	return slices.Sorted(maps.Keys(found))
}

var errUninhabited = usagef("no namespace of the cluster has operators, subscriptions, install plans or an operator group, and there are no ClusterExtensions")

// An unanswered takes the place of the answer for a namespace that has none.
type unansweredNamespace struct {
	Namespace string `json:"namespace"`
	Error     string `json:"error"`
}

// A sweep answers for one namespace after another. It continues after one without an answer.
type sweep struct {
	*env
	out *printer
	// answered counts the namespaces.
	answered         int
	negative, failed bool
}

// answer prints the answer for a namespace by calling print, in text below a heading.
func (s *sweep) answer(ctx context.Context, namespace string, print func() error) error {
	s.answered++
	isText := s.out.format != formatJSON && s.out.format != formatYAML
	if isText {
		if err := heading(s.out.w, "namespace "+namespace, s.answered); err != nil {
			return err
		}
	}
	if s.out.format == formatMarkdown {
		if _, err := visible.Fprintf(s.out.w, "\n"); err != nil {
			return err
		}
	}
	err := print()
	switch {
	case ctx.Err() != nil:
		return cmp.Or(err, context.Cause(ctx))
	case errors.Is(err, errNegative):
		s.negative = true
	case err != nil:
		s.failed = true
		if !isText {
			visible.Fprintf(s.stderr, "olmkit: namespace %s: %s\n", namespace, bare(err))
			return s.out.encode(unansweredNamespace{namespace, err.Error()})
		}
		_, err = visible.Fprintf(s.out.w, "No answer: %s\n", bare(err))
		return err
	}
	return nil
}

// end returns the error of the command: about namespaces without an answer, or with a negative
// one.
func (s *sweep) end() error {
	switch {
	case s.failed:
		return errReported
	case s.negative:
		return errNegative
	}
	return nil
}

// everyNamespace calls print with the problem of each namespace of the cluster that has one.
func (r *request) everyNamespace(ctx context.Context, l *loader, paths []string, out *printer, print func(*resolver.Problem) error) error {
	w := &sweep{env: l.env, out: out}
	err := r.problems(ctx, l, paths, func(namespace string, p *resolver.Problem, err error) error {
		return w.answer(ctx, namespace, func() error {
			if err != nil {
				return err
			}
			return print(p)
		})
	})
	return cmp.Or(err, w.end())
}

// problems calls yield with the problem of each namespace of the cluster that has one, or with the
// reason why its problem is unknown.
func (r *request) problems(ctx context.Context, l *loader, paths []string, yield func(string, *resolver.Problem, error) error) error {
	r.namespace = ""
	c, content, err := r.load(ctx, l, paths)
	if err != nil {
		return err
	}
	noteAll(l, r.inferred)
	found := false
	for _, ns := range inhabited(c) {
		p, err := r.problemOf(ctx, l, c, content, ns)
		if err == nil && len(p.Subscriptions)+len(p.Installed) == 0 {
			continue
		}
		found = true
		if err := yield(ns, p, err); err != nil {
			return err
		}
	}
	if !found {
		return usagef("no namespace of the cluster has a subscription or an operator")
	}
	return nil
}

// noteAll prints notes, each with its command.
func noteAll(l *loader, notes []reconcile.Note) {
	for _, n := range notes {
		visible.Fprintf(l.stderr, "note: %s\n", n)
		if n.Command != "" {
			visible.Fprintf(l.stderr, "  %s\n", n.Command)
		}
	}
}
