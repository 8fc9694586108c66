package compare_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

var namespaceSeed = flag.Uint64("namespaceseed", 1, "the first seed of TestNamespaces")

// perCatalogs is the number of namespaces that are generated for the catalogs of one seed.
const perCatalogs = 40

// TestNamespaces compares plans for generated namespaces with the running OLM: what the catalog operator does before a
// resolution, how it reads CSVs, and what its resolver installs. "make namespaces SEED=7" compares 10⁵ namespaces.
func TestNamespaces(t *testing.T) {
	ctx := t.Context()
	var count tally
	most := testsize.Of(400, 2000, 100_000)
	for seed := *namespaceSeed; count.all < most; seed++ {
		catalogs := generate.Catalogs(seed)
		ours := &reconcile.Catalogs{StandIns: true}
		theirs := map[resolver.CatalogID]*cache.Snapshot{}
		for _, c := range catalogs {
			g, err := graph.LoadReader(ctx, strings.NewReader(*c.FBC), c.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			ours.AddGraph(c.ID(), g)
			m, err := peer.Load(ctx, fstest.MapFS{"catalog.json": {Data: []byte(*c.FBC)}})
			if err != nil {
				break // opm finds a bundle that can only be reached through a skipped one
			}
			if theirs[c.ID()], err = peer.Snapshot(ctx, m, c.ID()); err != nil {
				t.Fatal(err)
			}
		}
		if len(theirs) < len(catalogs) {
			continue
		}
		for n := uint64(0); n < perCatalogs && count.all < most; n++ {
			s := generate.Namespace(seed, n)
			if err := compareNamespace(ctx, s, ours, theirs, &count); err != nil {
				t.Errorf("catalogs %d, namespace %d: %v\n%s", seed, n, err, describe(s))
				if count.differ++; count.differ > 3 {
					t.Fatal("too many differences")
				}
			}
			if count.all%10_000 == 0 {
				t.Log(&count)
			}
		}
	}
	t.Log(&count)
}

// A tally counts namespaces by their outcome.
type tally struct{ all, resolved, refused, installs, plain, tookBack, reordered, differ int }

func (c *tally) String() string {
	return fmt.Sprintf("seed %d: %d namespaces: %d resolved, %d of them refused, %d with something to install; in %d of them nothing is held back; other answers: %d because OLM backtracked (H13), %d because of the order of requirements (H29)",
		*namespaceSeed, c.all, c.resolved, c.refused, c.installs, c.plain, c.tookBack, c.reordered)
}

// compareNamespace returns an error that shows how OLM and olmkit differ, or nil if they agree.
func compareNamespace(ctx context.Context, s *reconcile.Snapshot, content *reconcile.Catalogs, catalogs map[resolver.CatalogID]*cache.Snapshot, count *tally) error {
	count.all++
	opts := &reconcile.Options{NoAdvice: true}
	opts.Resolver.Semantics = resolver.PerBundle
	settled, plan, err := settle(ctx, s, content, opts)
	if err != nil {
		return err
	}
	n, err := peer.NewNamespace(s, catalogs)
	if err != nil {
		return err
	}
	resolves := n.Settle()
	if got, want := statuses(settled), n.Statuses(); got != want {
		return fmt.Errorf("the final statuses of the subscriptions differ:\n%s\nOLM:\n%s", got, want)
	}
	if len(s.Subscriptions) == 0 {
		return nil
	}
	if plan.Problem == nil {
		if resolves && slices.ContainsFunc(settled.Subscriptions, func(x *olm.Subscription) bool { return !unfinished(settled, x) }) {
			return errors.New("olmkit does not resolve, OLM does") // although nothing is being installed (E12)
		}
		return nil
	}
	count.resolved++
	view, waiting := stated(settled)
	if !resolves && !slices.ContainsFunc(settled.Subscriptions, func(x *olm.Subscription) bool { return !unfinished(settled, x) }) {
		return errors.New("olmkit resolves, OLM does not") // although everything is being installed
	}
	if !waiting {
		count.plain++
	}
	got := installs(plan)
	switch got {
	case refused:
		count.refused++
	case "":
	default:
		count.installs++
	}
	if n, err = peer.NewNamespace(view, catalogs); err != nil {
		return err
	}
	var answers []string
	tookBack := false
	for range 300 { // OLM picks a channel at random (H15)
		theirs, err := n.Plan()
		want := theirs.Steps
		if err != nil {
			want = refused
		}
		// OLM does not make a plan for a dependency alone (E12).
		if same(got, want, settled, view) || err == nil && !theirs.Made && got == "" {
			return nil
		}
		tookBack = tookBack || theirs.TookBack
		if err == nil && !theirs.Made {
			want += "(no plan)"
		}
		if err != nil {
			if strings.Contains(err.Error(), `replacement chains were found in channel ""`) {
				return nil // the chains are those of installed operators (H24)
			}
			if m := inConflict.FindStringSubmatch(err.Error()); m != nil && m[1] == m[2] {
				return nil // an open subscription finds the operator that it owns as its own successor (H23)
			}
			want += ": " + err.Error()
		}
		if !slices.Contains(answers, want) {
			answers = append(answers, want)
		}
	}
	if tookBack && got != refused {
		count.tookBack++ // so the preferences of its later choices were lost (H13)
		return nil
	}
	for other := range reordered(view) {
		n, err := peer.NewNamespace(other, catalogs)
		if err != nil {
			return err
		}
		if theirs, err := n.Plan(); err == nil && same(got, theirs.Steps, settled, view) {
			count.reordered++
			return nil
		}
	}
	return fmt.Errorf("waiting %v: olmkit:\n%s\n%v\nOLM:\n%s", waiting, got, plan.Refused, strings.Join(answers, "\nor:\n"))
}

// settle plans repeatedly until the statuses of the subscriptions are stable or the namespace is resolved.
func settle(ctx context.Context, s *reconcile.Snapshot, content reconcile.Content, opts *reconcile.Options) (*reconcile.Snapshot, *reconcile.Plan, error) {
	c := *s
	for {
		plan, err := reconcile.Decide(ctx, &c, content, opts)
		if err != nil || plan.Problem != nil {
			return &c, plan, err
		}
		c.Subscriptions = slices.Clone(c.Subscriptions)
		changed := false
		for _, ch := range plan.Changes {
			if ch.Object.Kind != olm.KindSubscription {
				continue
			}
			i := slices.IndexFunc(c.Subscriptions, func(x *olm.Subscription) bool { return x.Key() == ch.Key() })
			if c.Subscriptions[i], err = olm.As[olm.Subscription](ch.Object); err != nil {
				return nil, nil, err
			}
			changed = true
		}
		if !changed {
			return &c, plan, nil
		}
	}
}

// unfinished reports whether a subscription refers to an install plan that is not
// done.
func unfinished(s *reconcile.Snapshot, x *olm.Subscription) bool {
	return x.Status.InstallPlanRef != nil && slices.ContainsFunc(s.InstallPlans, func(p *olm.InstallPlan) bool {
		return p.Metadata.Name == x.Status.InstallPlanRef.Name && (p.Status.Phase == olm.PlanInstalling || p.Status.Phase == olm.PlanRequiresApproval)
	})
}

// statuses lists the status of each subscription.
func statuses(s *reconcile.Snapshot) string {
	var lines []string
	for _, x := range s.Subscriptions {
		lines = append(lines, fmt.Sprintf("%s: installed %q, current %q", x.Metadata.Name, x.Status.InstalledCSV, x.Status.CurrentCSV))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// installs returns the bundles that a plan installs, in the form of [peer.Namespace.Plan].
func installs(plan *reconcile.Plan) string {
	if plan.Refused != nil {
		return refused
	}
	var lines []string
	for _, ch := range plan.Changes {
		if ch.Op != reconcile.Create || ch.Object.Kind != olm.KindInstallPlan {
			continue
		}
		ip, err := olm.As[olm.InstallPlan](ch.Object)
		if err != nil {
			return err.Error()
		}
		for _, name := range ip.Spec.ClusterServiceVersionNames {
			for _, x := range plan.Solution.Selected {
				if x.Name == name {
					lines = append(lines, peer.PlanLine(name, x.Replaces, resolver.CatalogID{Name: x.Catalog, Namespace: x.CatalogNamespace}))
				}
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// stated returns a namespace as olmkit resolves it: without the objects that have to wait by rule E12, and with the
// requirements in olmkit's order (D15). It also reports whether any object waits.
func stated(s *reconcile.Snapshot) (v *reconcile.Snapshot, waiting bool) {
	view := *s
	view.CSVs, view.Subscriptions = nil, nil
	csvs := map[string]*olm.ClusterServiceVersion{}
	next := map[string]bool{} // the CSVs that others replace
	for _, c := range s.CSVs {
		csvs[c.Metadata.Name], next[c.Spec.Replaces] = c, true
	}
	failForward := s.OperatorGroups[0].Spec.UpgradeStrategy == olm.UpgradeFailForward
	waits := func(c *olm.ClusterServiceVersion) bool {
		name, phase := c.Metadata.Name, c.Status.Phase
		chained := true // whether all CSVs before it in the chain are being replaced
		for p := csvs[c.Spec.Replaces]; p != nil; p = csvs[p.Spec.Replaces] {
			chained = chained && p.Status.Phase == olm.PhaseReplacing
		}
		switch {
		case next[name]:
			return true
		case phase == olm.PhaseFailed && failForward && chained:
			return false
		case csvs[c.Spec.Replaces] != nil:
			return true
		}
		return phase != olm.PhaseSucceeded
	}
	held := map[string][]string{} // the packages of the subscriptions that wait
	for _, x := range s.Subscriptions {
		if c := csvs[x.Status.InstalledCSV]; c != nil && waits(c) {
			waiting = true
			held[c.Metadata.Name] = append(held[c.Metadata.Name], x.Spec.Package)
			continue
		}
		view.Subscriptions = append(view.Subscriptions, x)
	}
	for _, c := range s.CSVs {
		if next[c.Metadata.Name] {
			waiting = true
			continue
		}
		if owners := held[c.Metadata.Name]; owners != nil {
			c = orphaned(c, owners)
		}
		view.CSVs = append(view.CSVs, ordered(c))
	}
	return &view, waiting
}

// inConflict matches OLM's message that two installed operators conflict.
var inConflict = regexp.MustCompile(`(@existing/\S+) conflicts with (@existing/[^\s,]+)`)

// same reports whether olmkit and OLM install the same bundles. It ignores a bundle that OLM installs only because
// view lacks its subscription: with the subscription, which s has, OLM would find it up to date.
func same(ours, theirs string, s, view *reconcile.Snapshot) bool {
	if ours == theirs {
		return true
	}
	mine := slices.Collect(strings.Lines(ours))
	return slices.Equal(mine, slices.DeleteFunc(slices.Collect(strings.Lines(theirs)), func(line string) bool {
		return !slices.Contains(mine, line) && slices.ContainsFunc(s.Subscriptions, func(x *olm.Subscription) bool {
			from := resolver.CatalogID{Name: x.Spec.Source, Namespace: x.Spec.SourceNamespace}
			return !slices.ContainsFunc(view.Subscriptions, func(y *olm.Subscription) bool { return y.Metadata.Name == x.Metadata.Name }) &&
				(strings.HasPrefix(line, fmt.Sprintf("%s of %s ", x.Status.CurrentCSV, from)) || x.Spec.Source == "" && strings.HasPrefix(line, x.Status.CurrentCSV+" "))
		})
	}))
}

// ordered returns a CSV with its requirements in the order in which olmkit processes them, which does not depend on
// the order in the annotation (D15).
func ordered(c *olm.ClusterServiceVersion) *olm.ClusterServiceVersion {
	list, err := property.ParseProjected([]byte(c.Metadata.Annotations[property.ProjectedAnnotation]))
	if err != nil {
		return c // it has no requirements
	}
	compiler := constraints.NewCompiler(nil)
	text := func(p property.Property) string {
		x, ok, err := compiler.FromProperty(p)
		if !ok || err != nil {
			return ""
		}
		return x.String()
	}
	slices.SortStableFunc(list, func(a, b property.Property) int { return cmp.Compare(text(a), text(b)) })
	value, _ := json.Marshal(map[string]any{"properties": list})
	out := *c
	out.Metadata.Annotations = maps.Clone(c.Metadata.Annotations)
	out.Metadata.SetAnnotation(property.ProjectedAnnotation, string(value))
	return &out
}

// describe returns the relevant parts of a namespace, one line for each object.
func describe(s *reconcile.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "group: %q\n", s.OperatorGroups[0].Spec.UpgradeStrategy)
	for _, c := range s.CSVs {
		fmt.Fprintf(&b, "CSV %s %q, %s, replaces %q, owns %v, requires %v, annotations %v\n", c.Metadata.Name, c.Spec.Version, c.Status.Phase, c.Spec.Replaces, c.Spec.CRDs.Owned, c.Spec.CRDs.Required, c.Metadata.Annotations)
	}
	for _, x := range s.Subscriptions {
		fmt.Fprintf(&b, "subscription %s to %s, channel %q of %s/%s, starting %q, installed %q, current %q, %s", x.Metadata.Name, x.Spec.Package, x.Spec.Channel, x.Spec.Source, x.Spec.SourceNamespace, x.Spec.StartingCSV, x.Status.InstalledCSV, x.Status.CurrentCSV, x.Status.State)
		if ref := x.Status.InstallPlanRef; ref != nil {
			fmt.Fprintf(&b, ", plan %s", ref.Name)
		}
		b.WriteByte('\n')
	}
	for _, p := range s.InstallPlans {
		fmt.Fprintf(&b, "plan %s: %s\n", p.Metadata.Name, p.Status.Phase)
	}
	return b.String()
}

// orphaned returns the CSV of a waiting subscription, with the package that OLM would infer from that subscription.
func orphaned(c *olm.ClusterServiceVersion, owners []string) *olm.ClusterServiceVersion {
	if _, ok := c.Metadata.Annotations[property.ProjectedAnnotation]; ok {
		return c
	}
	slices.Sort(owners)
	if len(slices.Compact(owners)) > 1 {
		return c
	}
	var list []string
	add := func(typ, format string, args ...any) {
		list = append(list, fmt.Sprintf(`{"type":%q,"value":%s}`, typ, fmt.Sprintf(format, args...)))
	}
	for _, d := range c.Spec.CRDs.Owned {
		_, group, _ := strings.Cut(d.Name, ".")
		add(property.TypeGVK, `{"group":%q,"version":%q,"kind":%q}`, group, d.Version, d.Kind)
	}
	for _, d := range c.Spec.CRDs.Required {
		_, group, _ := strings.Cut(d.Name, ".")
		add(property.TypeGVKRequired, `{"group":%q,"version":%q,"kind":%q}`, group, d.Version, d.Kind)
	}
	add(property.TypePackage, `{"packageName":%q,"version":%q}`, owners[0], strings.TrimPrefix(c.Spec.Version, "0.0.0"))
	out := *c
	out.Metadata.Annotations = maps.Clone(c.Metadata.Annotations)
	out.Metadata.SetAnnotation(property.ProjectedAnnotation, `{"properties":[`+strings.Join(list, ",")+`]}`)
	return &out
}
