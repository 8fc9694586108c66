package compare_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/resolver"
)

var sourceSeed = flag.Uint64("sourceseed", 1, "the first seed of TestSources")

// perSources is the number of problems that are generated for the catalogs of one seed.
const perSources = 10

// TestSources compares the answers to problems of several sources (see [generate.Sources]) with the running OLM. OLM
// iterates over maps and may give any of several answers. "make sources" compares 10⁵ problems.
func TestSources(t *testing.T) {
	ctx := t.Context()
	var count sourceTally
	most := testsize.Of(400, 2000, 100_000)
next:
	for seed := *sourceSeed; count.all < most; seed++ {
		catalogs := generate.Sources(seed, 0).Catalogs
		var snapshots []*cache.Snapshot
		for i := range catalogs {
			s, err := snapshot(ctx, &catalogs[i])
			if err != nil {
				continue next // opm refuses the catalog
			}
			snapshots = append(snapshots, s)
		}
		for n := uint64(0); n < perSources && count.all < most; n++ {
			p := generate.Sources(seed, n)
			p.Catalogs = catalogs
			if diff := compareSources(t, &p, snapshots, &count); diff != "" {
				text, _ := json.Marshal(p)
				t.Errorf("problem %s: %s\n%s", p.ID, diff, text)
				if count.differ++; count.differ > 5 {
					t.Fatal("too many differences")
				}
			}
		}
	}
	t.Logf("seed %d: %d problems, %d with a solution; other answers: %d for subscriptions without a catalog (H23, H28), %d for cycles of replaces (H7), %d because OLM backtracked (H13)",
		*sourceSeed, count.all, count.solved, count.joined, count.circles, count.tookBack)
}

// A sourceTally counts problems, and the differences that a rule explains.
type sourceTally struct{ all, solved, joined, circles, tookBack, differ int }

// compareSources returns how the answers to a problem differ, or "" if they agree or a rule explains the difference.
func compareSources(t *testing.T, p *resolver.Problem, snapshots []*cache.Snapshot, count *sourceTally) string {
	count.all++
	got := ours(t, *p)
	if got != refused {
		count.solved++
	}
	answers, reason, ok := olmAnswers(t, p, snapshots, got)
	switch {
	case ok:
	case joins(p):
		count.joined++
	case strings.Contains(reason, "a cycle exists in the chain of replacement"), got == refused && startsInCircle(p):
		count.circles++
	case selfConflict(p, reason):
		count.joined++
	case got != refused && tookBack(t, p, snapshots):
		count.tookBack++
	default:
		return fmt.Sprintf("olmkit:\n%s\nOLM:\n%s\n%s", got, strings.Join(answers, "\nor:\n"), reason)
	}
	return ""
}

// olmAnswers runs OLM's resolver until it gives the answer want, at most 300 times. It returns the answers that it
// gave, and its last refusal. If a subscription names no channel, OLM picks one of the channels of a bundle at random
// (H15), and no number of runs is certain to show all combinations. An answer with the same bundles is then accepted.
func olmAnswers(t *testing.T, p *resolver.Problem, snapshots []*cache.Snapshot, want string) (answers []string, reason string, ok bool) {
	q, err := peer.NewProblem(p, snapshots)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		list, err := q.Resolve()
		got := refused
		if err == nil {
			got = peer.Answer(list)
		} else {
			reason = err.Error()
		}
		if got == want {
			return nil, reason, true
		}
		if !slices.Contains(answers, got) {
			answers = append(answers, got)
		}
	}
	want = withoutChannels(p, want)
	return answers, reason, slices.ContainsFunc(answers, func(got string) bool { return withoutChannels(p, got) == want })
}

// tookBack reports whether OLM's search backtracked in any of 300 runs.
func tookBack(t *testing.T, p *resolver.Problem, snapshots []*cache.Snapshot) bool {
	q, err := peer.NewProblem(p, snapshots)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		if q.TookBack() {
			return true
		}
	}
	return false
}

// withoutChannels removes from an answer the parts that depend on the channel, for packages whose subscriptions name
// none.
func withoutChannels(p *resolver.Problem, answer string) string {
	lines := strings.Split(answer, "\n")
	for i, line := range lines {
		pkg, _, _ := strings.Cut(line, " ")
		drawn := slices.ContainsFunc(p.Subscriptions, func(s resolver.Subscription) bool { return s.Package == pkg && s.Channel == "" })
		if bundle, _, ok := strings.Cut(line, " in "); ok && drawn {
			lines[i] = bundle
		}
	}
	return strings.Join(lines, "\n")
}

// snapshot loads a catalog of a problem for olmkit and OLM.
func snapshot(ctx context.Context, c *resolver.Catalog) (*cache.Snapshot, error) {
	m, err := peer.Load(ctx, fstest.MapFS{"catalog.json": {Data: []byte(*c.FBC)}})
	if err != nil {
		return nil, err
	}
	if c.Graph, err = graph.LoadReader(ctx, strings.NewReader(*c.FBC), c.Name, nil); err != nil {
		return nil, err
	}
	return peer.Snapshot(ctx, m, c.ID())
}

// joins reports whether a subscription names no catalog and several have the requested package. OLM then joins their
// channels by name (H28).
func joins(p *resolver.Problem) bool {
	for _, s := range p.Subscriptions {
		if s.Catalog != "" || s.CatalogNamespace != "" {
			continue
		}
		have := 0
		for _, c := range p.Catalogs {
			if pkg, ok := c.Graph.Package(s.Package); ok && p.WhyUnseen(c.ID()) == "" {
				if _, ok := pkg.Channel(s.Channel); ok || s.Channel == "" {
					have++
				}
			}
		}
		if have > 1 {
			return true
		}
	}
	return false
}

// selfConflict reports whether OLM refuses because a subscription without a catalog and a channel finds the operator
// that it owns among that operator's possible successors, by name. The operator then excludes itself (H23).
func selfConflict(p *resolver.Problem, reason string) bool {
	return slices.ContainsFunc(p.Subscriptions, func(s resolver.Subscription) bool {
		id := fmt.Sprintf("@existing/%s//%s", p.Namespace, s.InstalledCSV)
		return s.Catalog == "" && s.CatalogNamespace == "" && s.Channel == "" && strings.Contains(reason, id+" conflicts with "+id)
	})
}

// startsInCircle reports whether a startingCSV is in a channel that olmkit does not use because its replaces form a
// cycle (H7). OLM uses the entry anyway, without the rest of the channel.
func startsInCircle(p *resolver.Problem) bool {
	for _, s := range p.Subscriptions {
		for _, c := range p.Catalogs {
			pkg, ok := c.Graph.Package(s.Package)
			if !ok || s.StartingCSV == "" {
				continue
			}
			for ch := range pkg.Channels() {
				if _, ok := ch.Entry(s.StartingCSV); ok && ch.Err() != nil && (s.Channel == "" || s.Channel == ch.Name()) {
					return true
				}
			}
		}
	}
	return false
}
