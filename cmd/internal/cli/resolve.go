package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

func newResolve(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve [CATALOG...] --package PACKAGE[:CHANNEL]... | --cluster",
		Short: "Show what a namespace would install or upgrade",
		Long: `Resolve shows what Operator Lifecycle Manager would install or upgrade in a
namespace, with or without a cluster.

A CATALOG is a directory of a file-based catalog, or one file of it. It has the name
of its directory and is visible to every namespace; --catalog gives it another name, a
priority or a namespace. Installed operators are looked up in the catalogs. An
installed operator belongs to the subscription for its package; without one, it must
not change. "olmkit help catalogs" and "olmkit help operators" have details.

With --cluster or --filename, the subscriptions, installed operators and catalogs are
those of a namespace of a cluster: see "olmkit plan --help". --package then adds a
subscription, or changes the channel of one, and --catalog replaces the content of the
catalog of its name. With --all-namespaces, there is an answer for each namespace
that has a subscription or an operator, in order of the names.

With --problem, resolve reads problem documents instead: one JSON document, or a
stream of them, each answered in turn. Directories in them are relative to
--root, and each is loaded once.

A warning reports each operator that is stuck, and each package whose preferred
versions are not possible. For a cluster, the output also states what keeps a bundle
from being installed or from running: an approval, the operator group, the operator
or the version of Kubernetes. With --strict, these exit with 1.

Exit codes: 0 there is a solution, 1 there is none, or with --strict one of these
warnings, 2 the input could not be read; with --all-namespaces, the highest of these.
With --problem, a conflict is an answer like any other: 0 if every problem was
answered.`,
		Example: `  olmkit resolve ./catalog --package etcd:stable --package argocd --installed etcd=0.9.0
  olmkit resolve --catalog ours=./ours,priority=10 ./community -p vault-operator
  olmkit resolve --cluster -n operators --package etcd:beta
  olmkit resolve --cluster --all-namespaces -o json
  olmkit resolve --problem problems.jsonl --root ./catalogs -o json`,
	}
	var (
		r         request
		semantics string
		strict    bool
	)
	f := addFormat(cmd)
	r.addFlags(cmd)
	in := addProblem(cmd, "problem documents", true)
	addChoice(cmd, &semantics, "constraints", "", "the meaning of compound constraints; per-bundle is how the running OLM evaluates them (default documented)",
		string(resolver.Documented), string(resolver.PerBundle))
	cmd.Flags().BoolVar(&strict, "strict", false, "also exit with 1 if an operator is stuck or held back, or gets an older version than it could")
	completeRequest(cmd, e, &r)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := in.check(cmd, args, "constraints"); err != nil {
			return err
		}
		l := newLoader(e)
		l.onDemand = true
		s := &solver{loader: l, out: printer{w: e.stdout, format: *f}, open: in.open(l), semantics: resolver.Semantics(semantics), file: in.file}
		if in.file != "" {
			return s.stream(cmd.Context(), in.file)
		}
		if r.all && r.given() {
			return r.everyNamespace(cmd.Context(), l, args, &s.out, func(p *resolver.Problem) error {
				return s.answer(cmd.Context(), &r, p, strict)
			})
		}
		p, err := r.problem(cmd.Context(), s.loader, args)
		if err != nil {
			return err
		}
		return s.answer(cmd.Context(), &r, p, strict)
	}
	return cmd
}

// answer prints the answer to the problem of a request. If strict is true, an operator that is stuck or
// held back makes it negative.
func (s *solver) answer(ctx context.Context, r *request, p *resolver.Problem, strict bool) error {
	a, err := s.solve(ctx, p)
	if err != nil {
		return err
	}
	if r.all {
		a.Namespace = p.Namespace
	}
	if a.Conflict == nil {
		if a.Obstacles, err = r.obstacles(ctx, p, a.solution); err != nil {
			return err
		}
		if err := r.adapt(ctx, a.Advice, nil); err != nil {
			return err
		}
	}
	if a.solution != nil {
		a.Deleted = r.deleted(a.solution)
	}
	a.Differs = r.differences(a.solution)
	if err := s.out.print(a); err != nil {
		return err
	}
	if !a.OK || strict && len(a.Obstacles) > 0 || strict && slices.ContainsFunc(a.Advice, resolver.Advice.NeedsAttention) {
		return errNegative
	}
	return nil
}

// A solver answers problems and prints the answers.
type solver struct {
	loader *loader
	out    printer
	// open opens the directories of problem documents.
	open      func(context.Context, string) (*graph.Catalog, error)
	semantics resolver.Semantics
	file      string // of the problems, or ""
}

// solve answers one problem. An error means that the problem is invalid.
func (s *solver) solve(ctx context.Context, p *resolver.Problem) (*answer, error) {
	if s.semantics != "" {
		p.Options.Semantics = s.semantics
	}
	s.loader.limits.bound(&p.Options)
	p.Options.File = s.file
	if err := p.Open(ctx, s.open); err != nil {
		return nil, err
	}
	sol, err := resolver.Resolve(ctx, *p)
	var conflict *resolver.Conflict
	var unhealthy *resolver.UnhealthyError
	switch {
	case errors.As(err, &conflict):
		a := &answer{ID: p.ID, Unseen: conflict.Unseen, Faults: conflict.Faults, problem: p}
		a.Conflict, err = conflict.Report(ctx)
		return a, err
	case errors.As(err, &unhealthy):
		// The problem requires this: the refusal is the answer (D14).
		return unanswered(p, err), nil
	case err != nil:
		return nil, err
	}
	a := newAnswer(p, sol)
	if sol.Refused != nil {
		if a.Refused, err = sol.Refused.Report(ctx); err != nil {
			return nil, err
		}
	}
	if a.Advice, err = sol.AdviceWithFixes(ctx); err != nil {
		return nil, err
	}
	if s.out.format == formatText {
		for _, x := range sol.Selected {
			why, err := reason(ctx, sol, x.Name)
			if err != nil {
				return nil, err
			}
			a.reasons = append(a.reasons, why)
		}
	}
	return a, nil
}

// stream answers the problems of a file.
func (s *solver) stream(ctx context.Context, file string) error {
	q := requests[resolver.Problem]{
		kind:   "problem",
		id:     func(p *resolver.Problem) string { return p.ID },
		answer: func(ctx context.Context, p *resolver.Problem) (any, error) { return s.solve(ctx, p) },
		failed: func(p *resolver.Problem, err error) (any, bool) { return unanswered(p, err), true },
	}
	return q.stream(ctx, s.loader.env, file, &s.out)
}
