package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/kube/olmhash"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

func newPlan(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan {-f FILE...|--cluster} [CATALOG...]",
		Short: "Show what would happen next in a cluster, and why",
		Long: `Plan reads a cluster, or its objects as "kubectl get -o yaml" prints them. It shows
what needs a person in a namespace, with the commands, what Operator Lifecycle Manager
would do next, and each write with its reason. Writes that differ only in the name of
the object share a line; JSON lists all. Nothing is written.

A CATALOG is a directory of a file-based catalog, or one file of it: the content
of the CatalogSource of the same name. --catalog gives it another name, or a
namespace. A catalog without a CatalogSource counts as a healthy one in the
global namespace. If a subscription uses a CatalogSource whose content is unknown,
the command fails. Otherwise such a CatalogSource provides nothing, and a note names
it. If a catalog does not contain the manifests of a bundle, the bundle's properties
are used instead.

` + stateHelp + `
With --all-namespaces, the plan of every namespace that has operators, subscriptions,
install plans or an operator group is shown, and then that of every ClusterExtension.
Each is a plan for the cluster as it is now; "olmkit simulate" shows how they affect
each other.

Below the plan are notes for administrators: operators that block the upgrade of the
platform or must not be upgraded, or that are not supported in one cluster.

With --impact, the verdict of "olmkit impact" on each upgrade is shown, from the
bundles and the cluster. The plan with --avoid breaks is that of OLM as well, which
knows no such rule. Lines below it show how to keep OLM from an upgrade that breaks
something, and the shortest path to the head without one, or what blocks every path.

To see what follows from these writes, run "olmkit simulate".

` + extensionHelp + `
Exit codes: 0 the plan was printed, even if an operator needs a person ("olmkit
status" exits with 1 then), 1 the subscriptions cannot be resolved, OLM decides
otherwise than olmkit-controller, a ClusterExtension is blocked (the plan shows
why), or an upgrade of the plan, or a later one that OLM takes on its own, is to be
avoided, 2 the input could not be read.`,
		Example: `  olmkit plan -f state.yaml --complete --kube-version 1.33 -n operators --catalog community=./catalog
  olmkit plan --cluster -n operators --catalog community=./catalog
  olmkit plan -f - -n operators ./catalog < state.yaml -o json
  olmkit plan --cluster --all-namespaces
  olmkit plan --cluster --extension etcd`,
	}
	var s clusterState
	f := addFormat(cmd)
	s.addFlags(cmd)
	s.addAllNamespaces(cmd, "plan all namespaces that have operators, and all ClusterExtensions")
	avoid := addAvoid(cmd)
	cmd.Flags().Lookup("bundles").Usage = "the `DIR` with bundle directories, PACKAGE/VERSION, for bundles whose manifests are not in the catalog; for --impact, --avoid and ClusterExtensions"
	extensions := addExtensions(cmd, e, &s, &avoid.tree)
	platform := cmd.Flags().String("platform-version", "", "the `VERSION` of the platform, such as 4.19.3, to show what blocks its upgrade (default: that of the ClusterVersion)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		l := newLoader(e)
		l.whole = true // the plan needs the manifests
		if use, err := extensions.wanted(ctx, l); err != nil {
			return err
		} else if use {
			if *platform != "" {
				return usagef("--platform-version applies only to classic OLM; remove it, or choose a namespace with --namespace")
			}
			return extensions.plan(ctx, l, args, &printer{w: e.stdout, format: *f}, avoid)
		}
		if err := avoid.check(); err != nil {
			return err
		}
		p := &planner{env: e, state: &s, avoid: avoid, platform: *platform, out: &printer{w: e.stdout, format: *f}}
		var err error
		if p.cluster, p.catalogs, err = s.load(ctx, l, args); err != nil {
			return err
		}
		if !s.all {
			return p.plan(ctx, s.namespace, s.inferred, true)
		}
		return p.everyNamespace(ctx, func() error { return extensions.plan(ctx, l, args, p.out, avoid) })
	}
	return cmd
}

// A planner prints the plans of namespaces.
type planner struct {
	*env
	state    *clusterState
	cluster  *memcluster.Cluster
	catalogs *reconcile.Catalogs
	avoid    *avoidance
	platform string
	out      *printer
}

// everyNamespace prints the plan of each inhabited namespace, and those of ClusterExtensions, if there
// are any, by calling extensions.
func (p *planner) everyNamespace(ctx context.Context, extensions func() error) error {
	names, v1 := inhabited(p.cluster), hasExtensions(p.cluster)
	if len(names) == 0 && !v1 {
		return errUninhabited
	}
	w := &sweep{env: p.env, out: p.out}
	for i, ns := range names {
		err := w.answer(ctx, ns, func() error {
			if err := p.state.resolvable(p.cluster, ns); err != nil {
				return err
			}
			var notes []reconcile.Note
			if i == 0 {
				notes = p.state.inferred
			}
			return p.plan(ctx, ns, notes, i == len(names)-1)
		})
		if err != nil {
			return err
		}
	}
	if !v1 {
		return w.end()
	}
	if len(names) > 0 {
		p.state.inferred = nil // which are printed
		if p.out.format == formatText {
			if _, err := visible.Fprintf(p.out.w, "\n"); err != nil {
				return err
			}
		}
	}
	err := extensions()
	if err != nil && !errors.Is(err, errNegative) {
		return err
	}
	return cmp.Or(w.end(), err)
}

// plan prints the plan of a namespace, with more notes and, if whole is true, with the advice about the
// whole cluster.
func (p *planner) plan(ctx context.Context, namespace string, notes []reconcile.Note, whole bool) error {
	snapshot, err := p.cluster.Read(ctx, namespace)
	if err != nil {
		return err
	}
	opts := &reconcile.Options{PlatformVersion: p.platform, RoleNaming: operatorgroup.Running, DeploymentHashes: olmhash.Deployment, CheckResources: crd.Check, IgnoreOLM: true}
	advice := &reconcile.Advice{}
	if whole {
		advice, err = reconcile.Advise(snapshot, opts)
	} else {
		advice.Held = reconcile.Held(snapshot)
	}
	if err != nil {
		return err
	}
	plan, err := reconcile.Decide(ctx, snapshot, p.catalogs, opts)
	if err != nil {
		return err
	}
	noted := *plan
	noted.Notes = slices.Concat(notes, plan.Notes)
	report, err := conflictReport(ctx, plan)
	if err != nil {
		return err
	}
	d := &planDocument{Plan: &noted, Hash: plan.Hash(), Refused: refusal(plan), Report: report, Advice: advice, next: operatorChanges(plan, snapshot)}
	sol := plan.Solution
	if sol == nil && plan.Refused == nil { // an install plan waits
		if sol, err = solution(ctx, snapshot, p.catalogs); err != nil {
			return err
		}
	}
	if d.Obstacles, err = obstacles(ctx, snapshot, sol, p.catalogs); err != nil {
		return err
	}
	if sol != nil {
		if d.Versions, err = sol.AdviceWithFixes(ctx); err != nil {
			return err
		}
		unsettled(d.Versions, d.Obstacles)
		if err := adapt(ctx, d.Versions, snapshot, nil); err != nil {
			return err
		}
		if p.avoid.on() {
			if d.Impact, err = p.avoid.planned(ctx, p.env, p.state, snapshot, sol); err != nil {
				return err
			}
		}
	}
	if err := p.out.print(d); err != nil {
		return err
	}
	if plan.Refused != nil || slices.ContainsFunc(d.Obstacles, differs) || slices.ContainsFunc(d.Impact, func(x upgradeImpact) bool { return x.Avoid.acts() }) {
		return errNegative
	}
	return nil
}

// solution returns what a namespace resolves to, or nil if it cannot be resolved.
func solution(ctx context.Context, s *reconcile.Snapshot, content reconcile.Content) (*resolver.Solution, error) {
	p, _, err := reconcile.Problem(ctx, s, content, nil)
	if err != nil {
		return nil, err
	}
	sol, err := resolver.Resolve(ctx, *p)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, nil
	}
	return sol, nil
}

// A planDocument is what the command prints, as text or JSON: a plan, and what explains it.
type planDocument struct {
	*reconcile.Plan
	// Hash identifies the plan: equal states of the cluster give equal hashes (G2).
	Hash    string
	Refused string
	Report  *resolver.Report
	Advice  *reconcile.Advice
	// Versions explains why operators get no newer version, and Obstacles what stands in the
	// way of the bundles that are installed next.
	Versions  resolver.AdviceList
	Obstacles []reconcile.Obstacle
	// Impact has the verdicts on the upgrades of the plan, with --impact or --avoid.
	Impact []upgradeImpact

	next []string // what happens to operators, as clauses
}

// MarshalJSON returns one object with the members of the plan and of the rest of the document.
func (d *planDocument) MarshalJSON() ([]byte, error) {
	return json.Marshal(planJSON{planFields(*d.Plan), d.Hash, d.Refused, d.Report, d.Advice, d.Versions, d.Obstacles, d.Impact}, json.Deterministic(true))
}

// A planJSON is the JSON form of a planDocument.
type planJSON struct {
	planFields
	// Hash is equal for equal states.
	Hash string `json:"hash"`
	// Refused explains why the subscriptions cannot be resolved. It is empty if they can.
	Refused string `json:"refused,omitempty"`
	// Report is the full explanation, with fixes.
	Report *resolver.Report  `json:"report,omitzero"`
	Advice *reconcile.Advice `json:"advice"`
	// Versions explains why operators get no newer version, with fixes.
	Versions resolver.AdviceList `json:"versions,omitempty"`
	// Obstacles are what keeps the bundles that are installed next from running.
	Obstacles []reconcile.Obstacle `json:"obstacles,omitempty"`
	// Impact has the verdicts on the upgrades of the plan, with --impact or --avoid.
	Impact []upgradeImpact `json:"impact,omitempty"`
}

// planFields is a plan without its methods, so that its MarshalJSON is not used for the whole
// document.
type planFields reconcile.Plan

func (d *planDocument) text(w io.Writer) error {
	var err error
	print := func(format string, args ...any) {
		if err == nil {
			_, err = visible.Fprintf(w, format, args...)
		}
	}
	if _, err = io.WriteString(w, differencesText(w, d.Obstacles, "The writes below are those of olmkit-controller")); err != nil {
		return err
	}
	err = writeRefusal(w, d.Refused, d.Report, d.Obstacles)
	for _, x := range d.Impact {
		print("impact: %s -> %s: %s\n", x.From, x.To, x.verdictText())
	}
	if d.Solution != nil && err == nil {
		err = writeNotes(w, "warning: ", d.Solution.Warnings(), func(s string) string { return s })
	}
	for _, x := range d.Impact { // before the command that approves it
		if err == nil {
			err = x.Avoid.text(w)
		}
	}
	if err == nil {
		err = writeHelp(w, slices.DeleteFunc(slices.Clone(d.Obstacles), ofOLM), d.Versions)
	}
	if err == nil {
		err = writeClusterNotes(w, slices.DeleteFunc(slices.Clone(d.Notes), d.stated))
	}
	if err == nil {
		_, err = io.WriteString(w, d.nextText(w))
	}
	section := func(title string, lines []string) {
		if len(lines) > 0 {
			print("\n%s:\n  %s\n", title, visible.Block(strings.Join(lines, "\n  ")))
		}
	}
	a := d.Advice
	section("The upgrade of the platform from "+a.PlatformVersion+" is blocked by", lines(a.Blockers, reconcile.Blocker.String))
	section("Not upgradeable; the next version will wait", lines(d.held(), func(h reconcile.Hold) string { return h.CSV.String() + ": " + h.Reason }))
	section("Not supported together in one cluster", together(a.CoTenancy))
	section("Operator groups with the same name, which share ClusterRoles; rename one to separate their users", lines(a.SharedRoles, func(r reconcile.SharedRoles) string {
		return r.Group + " in namespaces " + strings.Join(r.Namespaces, ", ")
	}))
	return err
}

// fullAdvice returns an advice in full if it needs attention or has commands, and else its summary.
func fullAdvice(a resolver.Advice) string {
	if a.NeedsAttention() || len(a.Commands) > 0 {
		return a.String()
	}
	return a.Summary()
}

// stated reports whether the lines below the notes state what a note does.
func (d *planDocument) stated(n reconcile.Note) bool {
	return n.Code == reconcile.NoteAdvice || n.Code == reconcile.NoteVersion || slices.ContainsFunc(d.Obstacles, func(o reconcile.Obstacle) bool { return o.States(n) })
}

// held returns the operators that are not upgradeable, without those of obstacles.
func (d *planDocument) held() []reconcile.Hold {
	return slices.DeleteFunc(slices.Clone(d.Advice.Held), func(h reconcile.Hold) bool {
		return slices.ContainsFunc(d.Obstacles, func(o reconcile.Obstacle) bool {
			return o.By == resolver.HeldByOperator && o.Replaces == h.CSV.Name
		})
	})
}

// maxTogether is how many operators the text of a plan lists that are not supported together.
const maxTogether = 10

// together returns a line for each operator that is not supported together with others, except
// those that an earlier line covers.
func together(list []operatorgroup.Violation) []string {
	var out []string
	for len(list) > 0 {
		a := list[0].A
		n := slices.IndexFunc(list, func(v operatorgroup.Violation) bool { return v.A.Namespace != a.Namespace || v.A.CSV != a.CSV })
		if n < 0 {
			n = len(list)
		}
		if len(out) == maxTogether {
			return append(out, fmt.Sprintf("… and %d more %s; -o json lists all", len(list), phrase.Plural(len(list), "pair")))
		}
		out = append(out, visible.Line(operatorgroup.Sentence(a.Namespace, a.CSV, list[:n])))
		list = list[n:]
	}
	return out
}

// lines returns each element of a list as a line.
func lines[T any](list []T, text func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = visible.Line(text(v))
	}
	return out
}
