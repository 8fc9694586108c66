package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// An avoidance holds the flags that choose upgrades to avoid.
type avoidance struct {
	verdict, tree string
}

// avoidNone is the value of --avoid that avoids nothing.
const avoidNone = "none"

// addAvoid adds --avoid and --bundles.
func addAvoid(cmd *cobra.Command) *avoidance {
	a := &avoidance{verdict: avoidNone}
	addChoice(cmd, &a.verdict, "avoid", "", "avoid upgrades whose verdict by \"olmkit impact\" is at least this", string(impact.Breaks), string(impact.Look), avoidNone)
	cmd.Flags().StringVar(&a.tree, "bundles", "", "with --avoid, the `DIR` with bundle directories, PACKAGE/VERSION, for bundles whose manifests are not in the catalog")
	return a
}

// check returns an error if --bundles is given alone.
func (a *avoidance) check() error {
	if a.tree != "" && !a.on() {
		return usagef("--bundles applies to --avoid; add --avoid breaks")
	}
	return nil
}

func (a *avoidance) on() bool { return a.verdict != avoidNone }

// run returns a run of "olmkit impact" with the options of the flags.
func (a *avoidance) run(e *env) *impactRun {
	return &impactRun{manifests: &manifests{env: e}, opts: impact.Options{Cache: &impact.Cache{}}, tree: a.tree}
}

// An edgeImpact is the verdict on one upgrade.
type edgeImpact struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Verdict is empty if the upgrade was not compared. Error then has the reason.
	Verdict impact.Verdict `json:"verdict,omitempty"`
	Error   string         `json:"error,omitempty"`
	// Codes are the codes of all changes, sorted.
	Codes []fbc.Code `json:"codes,omitempty"`
}

// verdictText returns the verdict and its codes.
func (e *edgeImpact) verdictText() string {
	if e.Error != "" {
		return "not compared: " + e.Error
	}
	var codes []string
	for _, c := range e.Codes {
		if e.Verdict != impact.Breaks || c.Severity() == fbc.Error {
			codes = append(codes, string(c))
		}
	}
	if len(codes) == 0 {
		return string(e.Verdict)
	}
	return string(e.Verdict) + ": " + strings.Join(codes, ", ")
}

// An edgeJudge judges the upgrades of one package, each once.
type edgeJudge struct {
	bundles *packageBundles
	compare func(ctx context.Context, old, created impact.Bundle) (*impact.Report, error)
	known   map[[2]string]*edgeImpact
	stored  *packageVerdicts // or nil
}

// judgeOf returns a judge of the upgrades between bundles.
func (i *impactRun) judgeOf(bundles *packageBundles) *edgeJudge {
	return &edgeJudge{bundles: bundles, known: map[[2]string]*edgeImpact{}, compare: func(ctx context.Context, old, created impact.Bundle) (*impact.Report, error) {
		return impact.Compare(ctx, old, created, &i.opts)
	}}
}

// of returns the verdict on an upgrade. The error is that of the context.
func (j *edgeJudge) of(ctx context.Context, from, to string) (*edgeImpact, error) {
	key := [2]string{from, to}
	if e := j.known[key]; e != nil {
		return e, nil
	}
	e := &edgeImpact{From: from, To: to}
	stored := j.stored.key(ctx, j.bundles, from, to)
	if j.stored.get(stored, e) {
		j.known[key] = e
		return e, nil
	}
	r, err := j.report(ctx, from, to)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		e.Error = readErrorText(err)
	default:
		e.Verdict = r.Verdict
		for _, d := range r.Findings() {
			e.Codes = append(e.Codes, d.Code)
		}
		slices.Sort(e.Codes)
		e.Codes = slices.Compact(e.Codes)
		if j.bundles.digested(from) && j.bundles.digested(to) {
			j.stored.put(stored, e)
		}
	}
	j.known[key] = e
	return e, nil
}

// report compares the bundles of an upgrade.
func (j *edgeJudge) report(ctx context.Context, from, to string) (*impact.Report, error) {
	old, err := j.bundles.get(ctx, from)
	if err != nil {
		return nil, err
	}
	created, err := j.bundles.get(ctx, to)
	if err != nil {
		return nil, err
	}
	return j.compare(ctx, old.Bundle, created.Bundle)
}

// exclusion returns why an upgrade is avoided, for explanations.
func (e *edgeImpact) exclusion() graph.Exclusion {
	return graph.Exclusion{From: e.From, To: e.To, Reason: e.verdictText()}
}

// avoiding replaces the shortest path of an answer with the shortest one without a step to
// avoid. If there is none, the answer has the upgrades that block every path.
func (a *avoidance) avoiding(ctx context.Context, e *env, u *graph.Upgrades, p graph.Package, answer *pathAnswer) error {
	run := a.run(e)
	run.opts.Classic = answer.Reading == graph.Classic
	judge := run.judgeOf(run.bundlesOf(true, p))
	for answer.OK {
		answer.Impact = nil
		var excluded []graph.Exclusion
		for _, s := range answer.Shortest {
			edge, err := judge.of(ctx, s.From.Name, s.To.Name)
			if err != nil {
				return err
			}
			answer.Impact = append(answer.Impact, *edge)
			if edge.Error == "" && edge.Verdict.AtLeast(impact.Verdict(a.verdict)) {
				excluded = append(excluded, edge.exclusion())
				answer.Avoided = append(answer.Avoided, *edge)
			}
		}
		if excluded == nil {
			return nil
		}
		u = u.Without(excluded)
		answer.find(u)
	}
	answer.Impact = nil
	to := graph.Node{}
	if answer.To != nil {
		to = *answer.To
	}
	for _, x := range u.Blocking(answer.From, to) {
		edge, err := judge.of(ctx, x.From, x.To)
		if err != nil {
			return err
		}
		answer.Blocking = append(answer.Blocking, *edge)
	}
	return nil
}

// deciding returns the first plan whose upgrades need not be avoided, and those that do. It
// excludes them by policies, which explanations name.
func (a *avoidance) deciding(ctx context.Context, e *env, s *clusterState, snapshot *reconcile.Snapshot, content *reconcile.Catalogs, opts *reconcile.Options) (*reconcile.Plan, []edgeImpact, error) {
	run := a.run(e)
	run.state = *s
	c := &clusterImpact{impactRun: run, groups: discovery{}, read: map[string]*resourceList{}}
	if s.wanted(s.cmd) {
		var err error
		if c.client, err = s.client(); err != nil {
			return nil, nil, err
		}
	}
	c.install(&operatorStatus{Object: olm.Key{Group: olm.Group}, Namespace: s.namespace})
	judges := map[string]*edgeJudge{}
	var avoided []edgeImpact
	for {
		plan, err := reconcile.Decide(ctx, snapshot, content, opts)
		if err != nil || plan.Solution == nil {
			return plan, avoided, err
		}
		found := false
		for _, sel := range plan.Solution.Selected {
			if !slices.ContainsFunc(plan.Problem.Installed, func(in resolver.Installed) bool { return in.Name == sel.Replaces }) {
				continue // a new installation
			}
			j := judges[sel.Package]
			if j == nil {
				j = run.judgeOf(run.bundlesOf(true, sel.Bundle.Package()))
				j.compare = func(ctx context.Context, old, created impact.Bundle) (*impact.Report, error) {
					if err := c.cluster(ctx, old, created); err != nil {
						return nil, err
					}
					return impact.Compare(ctx, old, created, &c.opts)
				}
				judges[sel.Package] = j
			}
			edge, err := j.of(ctx, sel.Replaces, sel.Name)
			if err != nil {
				return nil, nil, err
			}
			if edge.Error != "" {
				visible.Fprintf(e.stderr, "note: %s -> %s is %s\n", edge.From, edge.To, edge.verdictText())
				continue
			}
			if !edge.Verdict.AtLeast(impact.Verdict(a.verdict)) {
				continue
			}
			found = true
			avoided = append(avoided, *edge)
			opts.Policies = append(opts.Policies, resolver.Policy{Package: sel.Package, From: edge.From, Exclude: edge.To, Reason: edge.verdictText()})
		}
		if !found {
			return plan, avoided, nil
		}
	}
}

// writeEdges prints upgrades with their verdicts.
func writeEdges(b *strings.Builder, list []edgeImpact) {
	for _, e := range list {
		visible.Fprintf(b, "  %s -> %s: %s\n", e.From, e.To, e.verdictText())
	}
}

// avoidText returns how --avoid describes the upgrades that it avoids.
func avoidText(verdict string) string {
	if verdict == string(impact.Look) {
		return fmt.Sprintf("an upgrade whose verdict is %s or %s", impact.Look, impact.Breaks)
	}
	return "an upgrade that breaks something"
}
