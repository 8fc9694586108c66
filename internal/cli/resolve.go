package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

func newResolve(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resolve [CATALOG...] --package PACKAGE[:CHANNEL]...",
		Short: "Answer what a namespace would install or upgrade",
		Long: `Resolve answers what Operator Lifecycle Manager would install or upgrade in a
namespace, without a cluster.

A CATALOG is a directory of a file-based catalog, or one file of it. It takes
the name of its directory and is visible to every namespace; --catalog gives it
another name, a priority or a namespace. What is installed is looked up in the
catalogs; it belongs to the subscription of its package, and without one it must
stay as it is.

With --problem, resolve reads problem documents instead: one JSON document, or a
stream of them, each answered in turn. Directories in them are relative to
--root, and each is loaded once.

Exit codes: 0 there is a solution, 1 there is none, 2 the input could not be
read. With --problem a conflict is an answer like any other: 0 when every
problem was answered.`,
		Example: `  olmkit resolve ./catalog --package etcd:stable --package argocd --installed etcd=0.9.0
  olmkit resolve --catalog ours=./ours,priority=10 ./community -p vault-operator
  olmkit resolve --problem problems.jsonl --root ./catalogs -o json`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	var (
		r         request
		file      string
		root      string
		semantics string
	)
	f := addFormat(cmd)
	r.addFlags(cmd)
	cmd.Flags().StringVar(&file, "problem", "", "read problem documents from `FILE`, or from standard input when it is -")
	cmd.Flags().StringVar(&root, "root", ".", "the `DIR` that directories in problem documents are relative to")
	cmd.Flags().StringVar(&semantics, "constraints", "", "the meaning of compound constraints: documented (default) or per-bundle, as the running OLM evaluates them")
	complete(cmd, "constraints", string(resolver.Documented), string(resolver.PerBundle))
	completePackages(cmd, e, &r)
	if err := cmd.MarkFlagDirname("root"); err != nil {
		panic("internal error: " + err.Error())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch s := resolver.Semantics(semantics); s {
		case "", resolver.Documented, resolver.PerBundle:
		default:
			return usagef("--constraints %q is neither %s nor %s", semantics, resolver.Documented, resolver.PerBundle)
		}
		s := &solver{
			loader: newLoader(e), out: printer{w: e.stdout, format: *f},
			root: root, semantics: resolver.Semantics(semantics),
		}
		if file != "" {
			if len(args) > 0 || r.isUsed(cmd) {
				return usagef("--problem holds catalogs and subscriptions itself; give it alone")
			}
			return s.stream(cmd.Context(), file)
		}
		if cmd.Flags().Changed("root") {
			return usagef("--root is for --problem; name catalog directories as they are")
		}
		p, err := r.problem(cmd.Context(), s.loader, args)
		if err != nil {
			return err
		}
		a, err := s.solve(cmd.Context(), p)
		if err != nil {
			return err
		}
		if err := s.out.print(a); err != nil {
			return err
		}
		if !a.OK {
			return errNegative
		}
		return nil
	}
	return cmd
}

// A solver answers problems and prints the answers.
type solver struct {
	loader    *loader
	out       printer
	root      string
	semantics resolver.Semantics
}

// solve answers one problem. The error is the problem's fault.
func (s *solver) solve(ctx context.Context, p *resolver.Problem) (*answer, error) {
	if s.semantics != "" {
		p.Options.Constraints = s.semantics
	}
	if err := p.Open(ctx, s.open); err != nil {
		return nil, err
	}
	sol, err := resolver.Resolve(ctx, *p)
	var conflict *resolver.Conflict
	var unhealthy *resolver.UnhealthyError
	switch {
	case errors.As(err, &conflict):
		a := &answer{ID: p.ID, Conflict: conflict, problem: p}
		if s.out.format == formatText {
			a.explanation, err = conflict.Text(ctx, textWidth(s.out.w))
			if err != nil {
				return nil, err
			}
		}
		return a, nil
	case errors.As(err, &unhealthy):
		// The problem says so itself: a refusal is its answer (D14).
		return &answer{ID: p.ID, Error: err.Error(), problem: p}, nil
	case err != nil:
		return nil, err
	}
	a := newAnswer(p, sol)
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

// open loads a directory of a problem document. A document that comes from
// elsewhere reads nothing outside the root.
func (s *solver) open(ctx context.Context, dir string) (*graph.Catalog, error) {
	name := filepath.FromSlash(dir)
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%q is not below the root directory %q; write it relative to the root, or set --root", dir, s.root)
	}
	return s.loader.index(ctx, filepath.Join(s.root, name))
}

// stream answers the problems of a file, one line or document each, in order. A
// problem that cannot be answered does not keep the next from being answered.
func (s *solver) stream(ctx context.Context, file string) error {
	in := s.loader.stdin
	if file != stdinPath {
		f, err := os.Open(file)
		if err != nil {
			return fmt.Errorf("--problem: %w", err)
		}
		defer f.Close()
		in = f
	}
	n, bad := 0, false
	for p, err := range resolver.ReadProblems(in) {
		n++
		var a *answer
		if err == nil {
			a, err = s.solve(ctx, &p)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			bad = true
			fmt.Fprintf(s.loader.stderr, "olmkit: %s: %s: %s\n", file, label(&p, n), strings.TrimPrefix(err.Error(), "problem: "))
			a = &answer{ID: p.ID, Error: err.Error(), problem: &p}
		}
		if s.out.format == formatText {
			if err := heading(s.out.w, label(&p, n), n); err != nil {
				return err
			}
		}
		if err := s.out.print(a); err != nil {
			return err
		}
	}
	switch {
	case n == 0:
		return fmt.Errorf("%s: holds no problem document", file)
	case bad:
		return errReported
	}
	return nil
}

// label names a problem of a stream: by its id, or by its place.
func label(p *resolver.Problem, n int) string {
	if p.ID != "" {
		return fmt.Sprintf("problem %q", p.ID)
	}
	return fmt.Sprintf("problem %d", n)
}

// heading tells the answers of a stream apart.
func heading(w io.Writer, name string, n int) error {
	gap := "\n"
	if n == 1 {
		gap = ""
	}
	_, err := fmt.Fprintf(w, "%s# %s\n", gap, name)
	return err
}
