package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

const formatMarkdown format = "markdown"

func newExplain(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [CODE...] | [CATALOG...] --package PACKAGE[:CHANNEL]... | --cluster",
		Short: "Explain a plan, a conflict, or the code of a finding or fact",
		Long: `Explain shows why a namespace gets its operators, or why it cannot get any and how to
fix that.

With codes, it describes findings of "olmkit validate", facts of an explanation,
refusals of "olmkit select", advice or fixes, with an example and the usual fix.
Without arguments, it lists all codes.

Otherwise it accepts the flags of "olmkit resolve", for catalogs or a cluster, or one
problem document. For a plan, it shows why each bundle is in it and why better
candidates were rejected. For a conflict, it shows each minimal conflict as a short
derivation with the smallest changes that resolve it, and what can still be planned.
With --all-namespaces, it explains the answer for each namespace of a cluster.

Exit codes: 0 there is a solution, or the code was explained; 1 there is none, or
OLM decides otherwise than olmkit-controller; 2 the input could not be read.`,
		Example: `  olmkit explain ./catalog --package etcd:stable --why etcdoperator.v0.9.4
  olmkit explain --cluster -n operators --why etcdoperator.v0.9.4
  olmkit explain --problem problem.json -o markdown
  olmkit explain stranded must-stay`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return completeCodes(), cobra.ShellCompDirectiveDefault
		},
	}
	var (
		r                     request
		why, whyNot, recordTo string
	)
	r.addFlags(cmd)
	in := addProblem(cmd, "a problem document", false)
	fl := cmd.Flags()
	fl.StringVar(&why, "why", "", "show only why `BUNDLE` is in the plan")
	fl.StringVar(&whyNot, "why-not", "", "show why `BUNDLE`, or a version of a requested package, is not in the plan")
	fl.StringVar(&recordTo, "record", "", "also write the problem, with the reachable part of its catalogs, and its answer to `FILE`, for \"olmkit replay\"")
	for _, name := range []string{"why", "why-not", "record"} {
		cmd.MarkFlagsMutuallyExclusive("all-namespaces", name)
	}
	f := addFormats(cmd, "markdown for an issue or a page", string(formatMarkdown))
	completeRequest(cmd, e, &r)
	completeFlag(cmd, "why", r.completeBundles(e, ""))
	completeFlag(cmd, "why-not", r.completeBundles(e, ""))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := in.check(cmd, args, "why", "why-not", "record"); err != nil {
			return err
		}
		if why != "" && whyNot != "" {
			return usagef("give either --why or --why-not")
		}
		if in.file == "" && !r.isUsed(cmd) {
			return explainCodes(e, args, *f)
		}
		l := newLoader(e)
		l.onDemand = true
		x := &explainer{
			solver: solver{loader: l, out: printer{w: e.stdout, format: *f}, open: in.open(l)},
			why:    why, whyNot: whyNot, recordTo: recordTo,
		}
		x.obstacles, x.deleted, x.adapt = r.obstacles, r.deleted, r.adapt
		if r.all && r.given() {
			x.all = true
			return r.everyNamespace(cmd.Context(), l, args, &x.out, func(p *resolver.Problem) error {
				l.limits.bound(&p.Options)
				return x.explain(cmd.Context(), p)
			})
		}
		p, err := x.problem(cmd, &r, in.file, args)
		if err != nil {
			return err
		}
		return x.explain(cmd.Context(), p)
	}
	return cmd
}

// An explainer resolves one problem and explains the answer.
type explainer struct {
	solver
	why, whyNot, recordTo string
	all                   bool // all namespaces
	// obstacles returns what keeps the bundles of a solution from running, and deleted the operators of
	// its subscriptions that were deleted.
	obstacles func(context.Context, *resolver.Problem, *resolver.Solution) ([]reconcile.Obstacle, error)
	deleted   func(*resolver.Solution) []reconcile.DeletedOperator
	// adapt completes advice and changes by what the cluster knows.
	adapt func(context.Context, resolver.AdviceList, resolver.WhyNots) error
}

// problem reads the problem, or creates it from flags, and loads its catalogs.
func (x *explainer) problem(cmd *cobra.Command, r *request, file string, args []string) (*resolver.Problem, error) {
	if file == "" {
		p, err := r.problem(cmd.Context(), x.loader, args)
		if err != nil {
			return nil, err
		}
		x.loader.limits.bound(&p.Options)
		return p, nil
	}
	p, err := x.read(cmd.Context(), file)
	if err != nil {
		return nil, err
	}
	if err := p.Open(cmd.Context(), x.open); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// read reads the one problem document of a file, whose catalogs are yet to be
// opened, within the limits of the command line.
func (s *solver) read(ctx context.Context, file string) (*resolver.Problem, error) {
	in, err := s.loader.input(ctx, file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var found *resolver.Problem
	for p, err := range documents[resolver.Problem](in) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", file, err)
		case found != nil:
			return nil, fmt.Errorf("%s: holds several problem documents; give one", file)
		}
		s.loader.limits.bound(&p.Options)
		p.Options.File = file
		found = &p
	}
	if found == nil {
		return nil, nothingIn(file, "problem documents")
	}
	return found, nil
}

func (x *explainer) explain(ctx context.Context, p *resolver.Problem) error {
	if x.recordTo != "" {
		if err := record(ctx, p, x.recordTo); err != nil {
			return err
		}
	}
	for _, name := range []*string{&x.why, &x.whyNot} {
		if err := bundleOfVersion(p, name); err != nil {
			return err
		}
	}
	sol, err := resolver.Resolve(ctx, *p)
	var no *resolver.Conflict
	var unhealthy *resolver.UnhealthyError
	switch {
	case errors.As(err, &unhealthy):
		a := unanswered(p, err)
		if a.Obstacles, err = x.obstacles(ctx, p, nil); err != nil {
			return err
		}
		if err := x.out.print(a); err != nil {
			return err
		}
		return errNegative
	case errors.As(err, &no):
		if x.why != "" {
			visible.Fprintf(x.loader.stderr, "note: --why is ignored, because the problem has no solution\n")
		}
		report, err := no.Report(ctx)
		if err != nil {
			return err
		}
		if x.whyNot != "" {
			if err := x.tellWhyNot(ctx, p, no.WhyNot, true); err != nil {
				return err
			}
			if x.out.format == formatJSON || x.out.format == formatYAML {
				return errNegative
			}
		}
		if err := x.report(report); err != nil {
			return err
		}
		return errNegative
	case err != nil:
		return err
	case x.whyNot != "":
		return x.tellWhyNot(ctx, p, sol.WhyNot, false)
	}
	err = x.tellWhy(ctx, p, sol)
	if err != nil && !errors.Is(err, errNegative) || sol.Refused == nil || x.why != "" {
		return err
	}
	return cmp.Or(x.tellRefused(ctx, sol.Refused), err)
}

// tellRefused prints the conflict of the parts that a partial answer leaves
// out.
func (x *explainer) tellRefused(ctx context.Context, no *resolver.Conflict) error {
	report, err := no.Report(ctx)
	if err != nil {
		return err
	}
	if x.out.format == formatText || x.out.format == formatMarkdown {
		if _, err := fmt.Fprintln(x.out.w); err != nil {
			return err
		}
	}
	return x.report(report)
}

// report prints a conflict.
func (x *explainer) report(r *resolver.Report) error {
	switch x.out.format {
	case formatJSON, formatYAML:
		return x.out.encode(r)
	case formatMarkdown:
		_, err := fmt.Fprint(x.out.w, r.Markdown(x.style()))
		return err
	}
	_, err := fmt.Fprint(x.out.w, r.Text(textWidth(x.out.w), styleFor(x.out.w)))
	return err
}

// tellWhy prints why the named bundle, or else each bundle that changes or stays, is part of
// the solution.
func (x *explainer) tellWhy(ctx context.Context, p *resolver.Problem, sol *resolver.Solution) error {
	var names []string
	if x.why != "" {
		names = []string{x.why}
	} else {
		chosen := slices.Clone(sol.Selected) // for subscriptions, then for requirements
		slices.SortStableFunc(chosen, func(a, b resolver.Selected) int { return cmp.Compare(required(p, a), required(p, b)) })
		for _, s := range chosen {
			names = append(names, s.Name)
		}
		for _, s := range sol.Stayed {
			names = append(names, s.Name)
		}
		for _, in := range p.Installed { // those without a subscription
			if !slices.Contains(names, in.Name) && !slices.ContainsFunc(sol.Selected, func(s resolver.Selected) bool { return s.Replaces == in.Name }) {
				names = append(names, in.Name)
			}
		}
	}
	advice, err := sol.AdviceWithFixes(ctx)
	if err != nil {
		return err
	}
	chains, err := sol.Why(ctx, names...)
	if err != nil && x.why != "" && ctx.Err() == nil {
		return fmt.Errorf("%w; --why-not %[2]s explains why", err, x.why)
	}
	if err != nil {
		return err
	}
	obstacles, err := x.obstacles(ctx, p, sol)
	if err != nil {
		return err
	}
	unsettled(advice, obstacles)
	if err := x.adapt(ctx, advice, nil); err != nil {
		return err
	}
	var risks []string
	for _, a := range advice {
		if r := risk(a.Package, a.Outlook); r != "" {
			risks = append(risks, r)
		}
	}
	obstacles = risky(obstacles, risks)
	deleted := x.deleted(sol)
	list := []explained{}
	for _, chain := range chains {
		all, err := sol.RequiredBy(ctx, chain.Bundle)
		if err != nil {
			return err
		}
		first := chain.Reasons[0].String()
		also := slices.DeleteFunc(all, func(r resolver.Reason) bool { return r.String() == first })
		next := explained{Chain: chain, Also: also, Deprecated: sol.Deprecations(chain.Bundle)}
		about := func(a resolver.Advice) bool {
			return a.For(chain.Reasons[0].Subscription) && (a.Subscription != "" || a.Bundle == chain.Bundle)
		}
		if i := slices.IndexFunc(advice, about); i >= 0 {
			next.Advice = &advice[i]
		}
		for _, r := range also {
			for _, a := range advice {
				if a.Kind == resolver.AdviceDuplicate && a.Subscription == r.Subscription {
					next.Duplicates = append(next.Duplicates, a)
				}
			}
		}
		for _, d := range deleted {
			if d.Next == chain.Bundle {
				next.Deleted = append(next.Deleted, d)
			}
		}
		for _, o := range obstacles {
			old := func(x resolver.Selected) bool { return x.Name == chain.Bundle && x.Replaces == o.Bundle }
			if waits(o, chain.Bundle) {
				chain.Reasons[0].Held = o.String()
			}
			if o.Bundle == chain.Bundle || o.Bundle == "" && differs(o) || o.Bundle != "" && slices.ContainsFunc(sol.Selected, old) {
				next.Obstacles = append(next.Obstacles, o)
			}
		}
		list = append(list, next)
	}
	if err := x.reasons(p, list, obstacles); err != nil || !slices.ContainsFunc(obstacles, differs) {
		return err
	}
	return errNegative
}

// required returns 0 if a subscription of a problem is to the package of a bundle, else 1.
func required(p *resolver.Problem, s resolver.Selected) int {
	if slices.ContainsFunc(p.Subscriptions, func(x resolver.Subscription) bool { return x.Package == s.Package }) {
		return 0
	}
	return 1
}

// reasons prints the reasons for bundles, and what keeps them from being installed or from running.
func (x *explainer) reasons(p *resolver.Problem, list []explained, obstacles []reconcile.Obstacle) error {
	if x.out.format == formatJSON || x.out.format == formatYAML {
		if x.all {
			return x.out.encode(namespaceReasons{p.Namespace, list})
		}
		return x.out.encode(list)
	}
	if text := differencesText(x.out.w, obstacles, "The following is the answer of olmkit-controller"); text != "" {
		if err := x.prose("", text+"\n"); err != nil {
			return err
		}
	}
	if len(list) == 0 {
		_, err := visible.Fprintf(x.out.w, "Nothing to install or upgrade in namespace %s.\n", p.Namespace)
		return err
	}
	var codes []resolver.AdviceKind
	var common []reconcile.Obstacle // those of several bundles
	for i, e := range list {
		gap := "\n"
		if i == 0 {
			gap = ""
		}
		first, rest := e.Chain, e.Chain
		first.Reasons, first.See, rest.Reasons = e.Chain.Reasons[:1], "", e.Chain.Reasons[1:]
		text := first.Text(x.width(), x.style()) + resolver.Reasons(e.Also).AlsoText(x.width(), x.style())
		if x.why != "" { // otherwise, each bundle of the chain has a paragraph
			text += rest.Text(x.width(), x.style())
		}
		deprecated := proseWriter(x.out.w)
		for _, line := range e.Deprecated {
			deprecated.Line(nil, "warning: "+visible.Words(line), "  ", "  ")
		}
		text += deprecated.String()
		if e.Advice != nil {
			text += e.Advice.More(x.width(), x.style()) + resolver.FixesText(e.Advice.Fixes, x.width(), x.style())
			codes = append(codes, e.Advice.Kind)
		}
		held := proseWriter(x.out.w)
		for _, d := range e.Deleted {
			held.Line(nil, visible.Words(d.Text), "  ", "  ")
		}
		addObstacles(held, slices.DeleteFunc(slices.Clone(e.Obstacles), func(o reconcile.Obstacle) bool {
			shared := slices.ContainsFunc(obstacles, func(x reconcile.Obstacle) bool { return holdsAlike(x, o) && x.Bundle != o.Bundle })
			if shared && !differs(o) {
				common = append(common, o)
			}
			return shared || ofOLM(o)
		}), e.Bundle)
		text += held.String()
		for _, a := range e.Duplicates {
			text += a.More(x.width(), x.style()) + a.FixesText(x.width(), x.style())
			codes = append(codes, a.Kind)
		}
		if err := x.prose(gap, text); err != nil {
			return err
		}
	}
	if len(common) > 0 {
		held := proseWriter(x.out.w)
		addObstacles(held, common, "")
		if err := x.prose("\n", held.String()); err != nil {
			return err
		}
	}
	if len(codes) == 0 {
		return nil
	}
	return x.prose("\n", prose.More(codes...)+"\n")
}

// An explained holds the reasons why a bundle is part of a solution.
type explained struct {
	resolver.Chain `json:",inline"`
	// Also lists the other reasons to choose the bundle.
	Also []resolver.Reason `json:"also,omitempty"`
	// Deprecated are the deprecations of the bundle, of the operator that it replaces, and of their package and channel.
	Deprecated []string `json:"deprecated,omitempty"`
	// Advice explains why the subscription of the bundle gets no newer version.
	Advice *resolver.Advice `json:"advice,omitzero"`
	// Duplicates are the advice for other subscriptions that the bundle satisfies, although they
	// prefer another.
	Duplicates resolver.AdviceList `json:"duplicates,omitempty"`
	// Deleted are the operators that were deleted and in whose place the bundle is installed.
	Deleted []reconcile.DeletedOperator `json:"deleted,omitempty"`
	// Obstacles are what keeps the bundle from being installed or from running in the cluster.
	Obstacles []reconcile.Obstacle `json:"obstacles,omitempty"`
}

// A namespaceReasons holds the reasons for the bundles of a namespace, with --all-namespaces.
type namespaceReasons struct {
	Namespace string      `json:"namespace"`
	Reasons   []explained `json:"reasons"`
}

// prose prints plain text, as preformatted text in Markdown.
func (x *explainer) prose(gap, text string) error {
	if x.out.format == formatMarkdown {
		text = "```text\n" + text + "```\n"
	}
	_, err := fmt.Fprint(x.out.w, gap, text)
	return err
}

func (x *explainer) width() int { return textWidth(x.out.w) }

func (x *explainer) style() *resolver.Style {
	style := styleFor(x.out.w)
	if x.out.format == formatMarkdown {
		return &resolver.Style{Places: style.Places}
	}
	return style
}

// record writes a self-contained problem and its answer to a file.
func record(ctx context.Context, p *resolver.Problem, file string) error {
	small, err := p.Inline(ctx)
	if err != nil {
		return err
	}
	r, err := small.Record(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return err
	}
	err = disk.Replace(file, newFile, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}
