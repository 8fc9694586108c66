package reconcile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

func worldOf(t testing.TB, scenario string) *world {
	t.Helper()
	a, err := txtar.ParseFile("testdata/scenario/" + scenario + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return newWorld(t, a)
}

// D15, G2: the same state has the same plan and hash, whatever the order of its lists, and
// another state has another hash.
func TestPlanIsDeterministic(t *testing.T) {
	s := seed(t)
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		r := rand.New(rand.NewPCG(s, 1))
		w := newWorld(t, a)
		hashes := map[string]bool{}
		for range 8 {
			snapshot, err := w.Read(context.Background(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := reconcile.Decide(context.Background(), snapshot, w.content, &reconcile.Options{NewKey: fixedKey})
			if err != nil {
				t.Fatal(err)
			}
			list := w.List()
			r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			shuffled, err := reconcile.NewSnapshot(testNamespace, "olm", list)
			if err != nil {
				t.Fatal(err)
			}
			shuffled.KubeVersion, shuffled.Now, shuffled.Known = snapshot.KubeVersion, snapshot.Now, snapshot.Known
			before, err := json.Marshal(shuffled.CSVs)
			if err != nil {
				t.Fatal(err)
			}
			r.Shuffle(len(shuffled.Subscriptions), func(i, j int) {
				l := shuffled.Subscriptions
				l[i], l[j] = l[j], l[i]
			})
			again, err := reconcile.Decide(context.Background(), shuffled, w.content, &reconcile.Options{NewKey: fixedKey})
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(plan.Changes, again.Changes); diff != "" || plan.Hash() != again.Hash() {
				t.Fatalf("another order, another plan:\n%s", diff)
			}
			if after, err := json.Marshal(shuffled.CSVs); err != nil || string(after) != string(before) {
				t.Fatal("Decide modified its snapshot")
			}
			if len(plan.Changes) == 0 {
				return
			}
			if hashes[plan.Hash()] {
				t.Fatalf("two states have the hash %s", plan.Hash())
			}
			hashes[plan.Hash()] = true
			for _, c := range plan.Changes {
				if _, err := w.Apply(context.Background(), c); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// The plan's message reports a step that the cluster refuses, the other steps continue, and
// after a minute the plan is Failed (E2, E4). Once the plan is deleted, the step is tried
// again.
func TestRefusedStep(t *testing.T) {
	w := worldOf(t, "drift")
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	w.Now = func() time.Time { return now }
	forbidden := errors.New("serviceaccounts is forbidden")
	refuse := true
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if refuse && c.Object.Kind == "ServiceAccount" {
			return forbidden
		}
		return apply()
	}
	run := func(wantErr error) *olm.InstallPlan {
		t.Helper()
		if _, err := w.loop().Run(context.Background(), testNamespace); !errors.Is(err, wantErr) {
			t.Fatalf("got error %v, want %v", err, wantErr)
		}
		for _, o := range w.List() {
			if o.Kind == olm.KindInstallPlan {
				ip, err := olm.As[olm.InstallPlan](o)
				if err != nil {
					t.Fatal(err)
				}
				return ip
			}
		}
		t.Fatal("no install plan")
		return nil
	}
	ip := run(forbidden)
	if ip.Status.Phase != olm.PlanInstalling || !strings.Contains(ip.Status.Message, "ServiceAccount ops/runner: serviceaccounts is forbidden") {
		t.Errorf("plan is %s: %s", ip.Status.Phase, ip.Status.Message)
	}
	now = now.Add(2 * time.Minute)
	ip = run(nil)
	if ip.Status.Phase != olm.PlanFailed {
		t.Errorf("after two minutes the plan is %s: %s", ip.Status.Phase, ip.Status.Message)
	}
	sub := subscription(t, w, "example")
	if c, ok := olm.FindCondition(sub.Status.Conditions, "InstallPlanFailed"); !ok || c.Status != olm.ConditionTrue {
		t.Errorf("the subscription does not report it: %+v", sub.Status.Conditions)
	}
	refuse = false
	if ip = run(nil); ip.Status.Phase != olm.PlanFailed {
		t.Errorf("a failed plan came back: %s", ip.Status.Phase)
	}
}

// A cluster that does not answer ends the run, and no status reports a refused
// step. The next run continues.
func TestUnavailable(t *testing.T) {
	w := worldOf(t, "drift")
	away := fmt.Errorf("connection refused: %w", reconcile.ErrUnavailable)
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if c.Object.Kind == "ServiceAccount" {
			return away
		}
		return apply()
	}
	r, err := w.loop().Run(context.Background(), testNamespace)
	if !errors.Is(err, reconcile.ErrUnavailable) || !strings.Contains(err.Error(), "create ServiceAccount ops/runner: connection refused") {
		t.Fatalf("got error %v", err)
	}
	for _, o := range w.List() {
		if text, err := json.Marshal(o); err != nil || strings.Contains(string(text), "connection refused") {
			t.Errorf("%s reports it: %s", o.Key(), text)
		}
	}
	w.Intercept = nil
	if again, err := w.loop().Run(context.Background(), testNamespace); err != nil || again.Changes == 0 || r.Changes == 0 {
		t.Errorf("the next run made %d changes, error %v", again.Changes, err)
	}
}

func subscription(t *testing.T, w *world, name string) *olm.Subscription {
	t.Helper()
	o, err := w.Get(key(olm.KindSubscription, testNamespace+"/"+name))
	if err != nil {
		t.Fatal(err)
	}
	s, err := olm.As[olm.Subscription](o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Deployments that do not become available in time fail their operator.
func TestInstallTimeout(t *testing.T) {
	w := worldOf(t, "drift")
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	w.Now = func() time.Time { return now }
	w.unavailable["example"] = true
	phase := func() olm.CSVStatus {
		t.Helper()
		if _, err := w.loop().Run(context.Background(), testNamespace); err != nil {
			t.Fatal(err)
		}
		o, err := w.Get(key(olm.KindClusterServiceVersion, testNamespace+"/example.v0.1.1"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := olm.As[olm.ClusterServiceVersion](o)
		if err != nil {
			t.Fatal(err)
		}
		return c.Status
	}
	if st := phase(); st.Phase != olm.PhaseInstalling {
		t.Errorf("at first: %s", st.Phase)
	}
	now = now.Add(6 * time.Minute)
	if st := phase(); st.Phase != olm.PhaseFailed || st.Reason != reason.InstallCheckFailed {
		t.Errorf("after six minutes: %s, %s", st.Phase, st.Reason)
	}
	w.unavailable["example"] = false
	if o, err := w.Get(key("Deployment", testNamespace+"/example")); err != nil {
		t.Fatal(err)
	} else if err := w.Put(&o); err != nil {
		t.Fatal(err)
	}
	if st := phase(); st.Phase != olm.PhaseSucceeded {
		t.Errorf("once it is available: %s, %s", st.Phase, st.Message)
	}
}

type recorder struct {
	gauges   []reconcile.Sample
	counters map[string]float64
	observed map[string]int
}

func (r *recorder) Gauges(_ string, list []reconcile.Sample) { r.gauges = list }
func (r *recorder) Add(s reconcile.Sample)                   { r.counters[s.Name] += s.Value }
func (r *recorder) Observe(s reconcile.Sample)               { r.observed[s.Name]++ }

// planHash matches the name of an install plan, which is derived from its content.
var planHash = regexp.MustCompile("install-[0-9a-f]{10}")

// E11: every metric that OLM documents is reported under its name, and events are recorded
// for users.
func TestMetricsAndEvents(t *testing.T) {
	w := worldOf(t, "upgrade-walk")
	w.Warn = func(c reconcile.Change) []string {
		if c.Op == reconcile.Create && c.Object.Kind == olm.KindCRD {
			return []string{"v1 is deprecated"}
		}
		return nil
	}
	r := &recorder{counters: map[string]float64{}, observed: map[string]int{}}
	var events []string
	w.script(t, func(*strings.Builder) {
		l := w.loop()
		l.Metrics = r
		l.Events = func(e reconcile.Event) {
			events = append(events, planHash.ReplaceAllString(fmt.Sprintf("%s %s %s", e.Type, e.Reason, e.Object), "install-X"))
		}
		if _, err := l.Run(context.Background(), testNamespace); err != nil {
			t.Fatal(err)
		}
	})
	var gauges []string
	for _, s := range r.gauges {
		gauges = append(gauges, fmt.Sprint(s.Name, s.Labels, " ", s.Value))
	}
	want := []string{
		"catalog_source_count[] 0", "csv_count[] 1",
		"csv_succeeded[{namespace ops} {name example.v0.1.3} {version 0.1.3}] 1",
		"install_plan_count[] 3", "subscription_count[] 1",
	}
	if diff := gocmp.Diff(want, gauges); diff != "" {
		t.Errorf("gauges (-want +got):\n%s", diff)
	}
	for name, want := range map[string]float64{"csv_upgrade_count": 2, "installplan_warnings_total": 1} {
		if r.counters[name] != want {
			t.Errorf("%s is %v, want %v", name, r.counters[name], want)
		}
	}
	if r.counters["subscription_sync_total"] == 0 || r.observed["olm_resolution_duration_seconds"] == 0 {
		t.Errorf("counters %v, observed %v", r.counters, r.observed)
	}
	for _, e := range []string{
		"Normal InstallPlanCreated InstallPlan ops/install-X",
		"Warning AppliedWithWarnings InstallPlan ops/install-X",
		"Normal BeingReplaced ClusterServiceVersion ops/example.v0.1.1",
		"Normal InstallSucceeded ClusterServiceVersion ops/example.v0.1.3",
	} {
		if !slices.Contains(events, e) {
			t.Errorf("no event %q in %q", e, events)
		}
	}

	s := &reconcile.Snapshot{Namespace: "olm"}
	c := new(olm.CatalogSource)
	c.Metadata = olm.Metadata{Name: "community", Namespace: "olm"}
	c.Status.ConnectionState = &olm.ConnectionState{LastObservedState: "READY"}
	s.CatalogSources = append(s.CatalogSources, c)
	bad := new(olm.ClusterServiceVersion)
	bad.Metadata = olm.Metadata{Name: "a.v1", Namespace: "olm"}
	bad.Status = olm.CSVStatus{Phase: olm.PhaseFailed, Reason: reason.NoOperatorGroup}
	s.CSVs = append(s.CSVs, bad)
	text := fmt.Sprint(reconcile.Gauges(s))
	for _, part := range []string{
		"{catalogsource_ready [{namespace olm} {name community}] 1}",
		"{csv_abnormal [{namespace olm} {name a.v1} {version } {phase Failed} {reason NoOperatorGroup}] 1}",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %s in %s", part, text)
		}
	}
}

// A loop ends even if another writer reverts its changes again and again.
func TestUnsettled(t *testing.T) {
	w := worldOf(t, "drift")
	l := w.loop()
	l.MaxPasses = 30
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		err := apply()
		if c.Object.Kind == "ClusterRole" && c.Op == reconcile.Create {
			if err := w.Remove(c.Key()); err != nil {
				t.Error(err)
			}
		}
		return err
	}
	if _, err := l.Run(context.Background(), testNamespace); !errors.Is(err, reconcile.ErrUnsettled) {
		t.Errorf("got error %v, want ErrUnsettled", err)
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		w := worldOf(b, "upgrade-walk")
		for i := range n {
			ns := &olm.Namespace{Header: olm.Header{APIVersion: "v1", Kind: "Namespace", Metadata: olm.Metadata{Name: fmt.Sprint("tenant-", i)}}}
			w.put(b, ns)
		}
		if _, err := w.loop().Run(context.Background(), testNamespace); err != nil {
			b.Fatal(err)
		}
		s, err := w.Read(context.Background(), testNamespace)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("at-rest/namespaces=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if p, err := reconcile.Decide(context.Background(), s, w.content, nil); err != nil || len(p.Changes) > 0 {
					b.Fatal(p, err)
				}
			}
		})
	}
}
