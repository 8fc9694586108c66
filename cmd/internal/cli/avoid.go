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
	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// An avoidance holds the flags that show the verdicts on upgrades and choose upgrades to avoid.
type avoidance struct {
	shown         bool
	verdict, tree string
}

// avoidNone is the value of --avoid that avoids nothing.
const avoidNone = "none"

// addImpact adds --impact and --bundles.
func addImpact(cmd *cobra.Command) *avoidance {
	a := &avoidance{verdict: avoidNone}
	cmd.Flags().BoolVar(&a.shown, "impact", false, "show the verdict of \"olmkit impact\" on each upgrade")
	cmd.Flags().StringVar(&a.tree, "bundles", "", "with --impact, the `DIR` with bundle directories, PACKAGE/VERSION, for bundles whose manifests are not in the catalog")
	return a
}

// addAvoid adds --avoid, which implies --impact, and the flags of addImpact.
func addAvoid(cmd *cobra.Command) *avoidance {
	a := addImpact(cmd)
	addChoice(cmd, &a.verdict, "avoid", "", "avoid upgrades whose verdict by \"olmkit impact\" is at least this", string(impact.Breaks), string(impact.Look), avoidNone)
	cmd.Flags().Lookup("bundles").Usage = "with --impact or --avoid, the `DIR` with bundle directories, PACKAGE/VERSION, for bundles whose manifests are not in the catalog"
	return a
}

// check returns an error if --bundles is given alone.
func (a *avoidance) check() error {
	if a.tree != "" && !a.on() {
		return usagef("--bundles applies to the verdicts on upgrades; add --impact")
	}
	return nil
}

// on reports whether upgrades are judged.
func (a *avoidance) on() bool { return a.shown || a.avoids() }

// avoids reports whether upgrades are avoided.
func (a *avoidance) avoids() bool { return a.verdict != avoidNone }

// refuses reports whether an upgrade is to be avoided.
func (a *avoidance) refuses(e *edgeImpact) bool {
	return a.avoids() && e.Error == "" && e.Verdict.AtLeast(impact.Verdict(a.verdict))
}

// run returns a run of "olmkit impact" with the options of the flags.
func (a *avoidance) run(e *env) *impactRun {
	run := newImpactRun(e)
	run.tree = a.tree
	return run
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
	// Migrate is what must be migrated before the upgrade if it is part of the path, because earlier bundles of
	// the path stored resources in other versions.
	Migrate []impact.Migration `json:"migrate,omitempty"`

	refused bool // by OLM v1, if it checks CRDs; only for upgrades that were compared in this run
}

// verdictText returns the verdict and its codes.
func (e *edgeImpact) verdictText() string {
	if e.Error != "" {
		return "not compared: " + e.Error
	}
	var codes []string
	for _, c := range e.coded() {
		codes = append(codes, string(c))
	}
	if len(codes) == 0 {
		return string(e.Verdict)
	}
	return string(e.Verdict) + ": " + strings.Join(codes, ", ")
}

// coded returns the codes that are the reason for the verdict.
func (e *edgeImpact) coded() []fbc.Code {
	return slices.DeleteFunc(slices.Clone(e.Codes), func(c fbc.Code) bool { return e.Verdict == impact.Breaks && c.Severity() != fbc.Error })
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
		e.Codes = r.Codes()
		e.refused = slices.ContainsFunc(r.CRDs, (*crdsafety.Result).Refused)
		if j.bundles.digested(from) && j.bundles.digested(to) {
			j.stored.put(stored, e)
		}
	}
	j.known[key] = e
	return e, nil
}

// along returns the verdicts on the upgrades of a path.
func (j *edgeJudge) along(ctx context.Context, path []graph.Step) ([]edgeImpact, error) {
	var out []edgeImpact
	var bundles []impact.Bundle
	for i, s := range path {
		edge, err := j.of(ctx, s.From.Name, s.To.Name)
		if err != nil {
			return nil, err
		}
		e := *edge
		names := []string{s.To.Name}
		if i == 0 {
			names = []string{s.From.Name, s.To.Name}
		}
		for _, name := range names {
			if b, err := j.bundles.get(ctx, name); err == nil {
				bundles = append(bundles, b.Bundle)
			} else {
				bundles = nil // without its CRDs, those before are unknown
			}
		}
		e.Migrate = impact.Migrations(slices.Clone(bundles))
		out = append(out, e)
	}
	return out, nil
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

// judge returns a judge of the upgrades of a package: on a cluster for an operator there, or in
// general if operator is nil.
func (a *avoidance) judge(e *env, s *clusterState, operator *operatorStatus, p graph.Package, reading graph.Reading) (*edgeJudge, error) {
	if operator == nil {
		run := a.run(e)
		run.opts.Classic = reading == graph.Classic
		return run.judgeOf(run.bundlesOf(true, p)), nil
	}
	c, err := a.onCluster(e, s)
	if err != nil {
		return nil, err
	}
	c.install(operator)
	c.opts.Classic = reading == graph.Classic
	return c.judgeOn(p), nil
}

// avoiding replaces the shortest path of an answer with the shortest one without a step to
// avoid. If there is none, the answer has the upgrades that block every path.
func (a *avoidance) avoiding(ctx context.Context, judge *edgeJudge, u *graph.Upgrades, answer *pathAnswer) error {
	for answer.OK {
		var excluded []graph.Exclusion
		var err error
		if answer.Impact, err = judge.along(ctx, answer.Shortest); err != nil {
			return err
		}
		for _, edge := range answer.Impact {
			if a.refuses(&edge) {
				excluded = append(excluded, edge.exclusion())
				answer.Avoided = append(answer.Avoided, edge)
			}
		}
		if excluded == nil {
			break
		}
		u = u.Without(excluded)
		answer.find(u)
	}
	if !answer.OK {
		answer.Impact = nil
	}
	if a.shown { // judging may need images
		walk, err := judge.along(ctx, answer.Walk.Steps)
		if err != nil {
			return err
		}
		for _, edge := range walk {
			if !slices.ContainsFunc(answer.Impact, func(e edgeImpact) bool { return e.From == edge.From && e.To == edge.To }) {
				answer.Impact = append(answer.Impact, edge)
			}
		}
	}
	if answer.OK {
		return nil
	}
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

// judgeOn returns a judge of upgrades in a cluster. It must not be used after the options of c
// change.
func (c *clusterImpact) judgeOn(packages ...graph.Package) *edgeJudge {
	j := c.judgeOf(c.bundlesOf(true, packages...))
	j.compare = func(ctx context.Context, old, created impact.Bundle) (*impact.Report, error) {
		if err := c.cluster(ctx, old, created); err != nil {
			return nil, err
		}
		return impact.Compare(ctx, old, created, &c.opts)
	}
	return j
}

// onCluster returns what compares bundles on a cluster.
func (a *avoidance) onCluster(e *env, s *clusterState) (*clusterImpact, error) {
	c := &clusterImpact{impactRun: a.run(e), groups: discovery{}, read: map[string]*resourceList{}}
	c.state = *s
	var err error
	if s.wanted(s.cmd) {
		c.client, err = s.client()
	}
	return c, err
}

// settling solves a problem until no upgrade of its solution is to be avoided. It returns the verdicts
// on these upgrades, and on those to avoid, which policies exclude, so that explanations name them.
// Solve gets these policies, and returns no solution if there is a conflict.
func (a *avoidance) settling(ctx context.Context, judge func(graph.Package) *edgeJudge, solve func([]resolver.Policy) (*resolver.Solution, []resolver.Installed, error)) (taken, avoided []edgeImpact, err error) {
	judges := map[string]*edgeJudge{}
	var policies []resolver.Policy
	for {
		sol, installed, err := solve(policies)
		if err != nil || sol == nil {
			return nil, avoided, err
		}
		taken = nil
		found := false
		for _, sel := range sol.Selected {
			if !slices.ContainsFunc(installed, func(in resolver.Installed) bool { return in.Name == sel.Replaces }) {
				continue // a new installation
			}
			j := judges[sel.Package]
			if j == nil {
				j = judge(sel.Bundle.Package())
				judges[sel.Package] = j
			}
			edge, err := j.of(ctx, sel.Replaces, sel.Name)
			if err != nil {
				return nil, nil, err
			}
			taken = append(taken, *edge)
			if !a.refuses(edge) {
				continue
			}
			found = true
			avoided = append(avoided, *edge)
			policies = append(policies, resolver.Policy{Package: sel.Package, From: edge.From, Exclude: edge.To, Reason: edge.verdictText()})
		}
		if !found {
			return taken, avoided, nil
		}
	}
}

// An upgradeImpact is the verdict on an upgrade of a plan.
type upgradeImpact struct {
	edgeImpact
	// Avoid shows, with --avoid, how to get to the head without upgrades to avoid. It is absent if
	// none is on the way.
	Avoid *statusAvoid `json:"avoid,omitzero"`
}

// planned returns the verdicts on the upgrades that a namespace gets next.
func (a *avoidance) planned(ctx context.Context, e *env, s *clusterState, snapshot *reconcile.Snapshot, sol *resolver.Solution) (taken []upgradeImpact, err error) {
	c, err := a.onCluster(e, s)
	if err != nil {
		return nil, err
	}
	c.install(&operatorStatus{Object: olm.Key{Group: olm.Group}, Namespace: snapshot.Namespace})
	for _, sel := range sol.Selected {
		installed := ownCSV(snapshot, sel.Replaces)
		if installed == nil {
			continue // a new installation
		}
		o := &operatorStatus{
			Object: olm.Key{Group: olm.Group, Namespace: snapshot.Namespace}, Package: sel.Package,
			Installed: sel.Replaces, Version: installed.Spec.Version,
		}
		for _, sub := range snapshot.Subscriptions {
			if sub.Spec.InstallPlanApproval == olm.Manual {
				o.Moves = movesApproval // with all others of the namespace
			}
			if sub.Status.InstalledCSV == sel.Replaces {
				o.Object, o.Channel = sub.Key(), sub.Spec.Channel
			}
		}
		judge := c.judgeOn(sel.Bundle.Package())
		if o.Impact, err = judge.of(ctx, sel.Replaces, sel.Name); err != nil {
			return nil, err
		}
		if a.avoids() && o.Object.Name != "" {
			if err := a.around(ctx, judge, o, []graph.Package{sel.Bundle.Package()}); err != nil {
				return nil, err
			}
		}
		taken = append(taken, upgradeImpact{*o.Impact, o.Avoid})
	}
	return taken, nil
}

// next sets the verdicts on the next upgrades of operators.
func (a *avoidance) next(ctx context.Context, r *clusterReader, operators []operatorStatus) error {
	c, err := a.onCluster(r.loader.env, r.clusterState)
	if err != nil {
		return err
	}
	c.reader = r
	for i := range operators {
		o := &operators[i]
		if o.Installed == "" || o.Moves == movesUnmanaged {
			continue
		}
		packages := c.packages(o)
		if len(packages) == 0 {
			continue
		}
		c.opts = impact.Options{Cache: c.opts.Cache}
		c.install(o)
		steps, err := c.steps(o, packages, "")
		if err != nil {
			return err
		}
		if len(steps) == 0 {
			continue
		}
		judge := c.judgeOn(packages...)
		if o.Impact, err = judge.of(ctx, o.Installed, steps[0].To.Name); err != nil {
			return err
		}
		if !a.avoids() {
			continue
		}
		if err := a.around(ctx, judge, o, packages); err != nil {
			return err
		}
	}
	return nil
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
