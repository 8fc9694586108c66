package reconcile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/olm"
)

// readers lists the rows of docs/readers.md, each with a test that reads the objects in the
// same way.
var readers = map[string]func(t *testing.T){
	"Argo CD, health of Subscriptions":                       testArgoHealth,
	"Open Cluster Management, OperatorPolicy: resolution":    testPolicyResolution,
	"Open Cluster Management, OperatorPolicy: existing CSVs": testPolicyExisting,
	"Open Cluster Management, OperatorPolicy: CSVs":          testPolicyCSVs,
	"Open Cluster Management, OperatorPolicy: approval":      testPolicyApproval,
	"OpenShift Data Foundation, scaling":                     testDataFoundation,
	"operator-sdk, `run bundle`":                             testRunBundle,
	"kubectl operator, `install`":                            testKubectlInstall,
	"kubectl operator, `uninstall`":                          testKubectlUninstall,
	"OpenShift console":                                      testConsole,
	"Operator objects":                                       testOperatorObjects,
}

// TestReaders reads objects as the programs in docs/readers.md do (E1, E3, E4, E30, E31, E32).
func TestReaders(t *testing.T) {
	text, err := os.ReadFile("../docs/readers.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if name, ok := strings.CutPrefix(cells[0], "| "); ok && name != "Reader" {
			rows = append(rows, name)
		}
	}
	for name := range readers {
		if !slices.Contains(rows, name) {
			t.Errorf("docs/readers.md has no row %q", name)
		}
	}
	for _, name := range rows {
		play := readers[name]
		if play == nil {
			t.Errorf("no test plays %q of docs/readers.md", name)
			continue
		}
		t.Run(name, play)
	}
}

// scenarioUntil returns the world of a scenario after that many runs of its script.
func scenarioUntil(t *testing.T, name string, runs int) *world {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", "scenario", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range a.Files {
		if f.Name != "script" {
			continue
		}
		var lines []string
		for line := range strings.Lines(string(f.Data)) {
			lines = append(lines, line)
			if strings.TrimSpace(line) == "run" {
				if runs--; runs == 0 {
					break
				}
			}
		}
		a.Files[i].Data = []byte(strings.Join(lines, "") + "sleep 0s\n") // the clock runs
	}
	w := newWorld(t, a)
	w.clock.Add(int64(time.Second))
	w.script(t, func(*strings.Builder) { undisturbed(t, w) })
	return w
}

func condition(s *olm.Subscription, typ string) olm.Condition {
	c, _ := olm.FindCondition(s.Status.Conditions, typ)
	return c
}

// argoHealth returns Argo CD's health of a Subscription.
func argoHealth(s *olm.Subscription) string {
	pending, degraded := 0, 0
	for _, c := range s.Status.Conditions {
		switch {
		case c.Type == "InstallPlanPending" && c.Status == "True":
			pending++
		case c.Type == "InstallPlanMissing" && c.Reason != "ReferencedInstallPlanNotFound",
			slices.Contains([]string{"CatalogSourcesUnhealthy", "InstallPlanFailed", "ResolutionFailed"}, c.Type) && c.Status == "True":
			degraded++
		}
	}
	switch {
	case degraded > 0:
		return "Degraded"
	case pending > 0 || len(s.Status.Conditions) == 0:
		return "Progressing"
	}
	return "Healthy"
}

func testArgoHealth(t *testing.T) {
	for _, c := range []struct {
		scenario string
		runs     int
		sub      string
		want     string
	}{
		{"stuck-upgrade", 1, "example", "Healthy"},
		{"stuck-upgrade", 2, "example", "Healthy"}, // the upgrade continues
		{"stuck-upgrade", 3, "example", "Degraded"},
		{"stuck-upgrade", 4, "example", "Healthy"},
		{"manual-upgrade", 1, "example", "Progressing"},
		{"no-solution", 1, "a", "Degraded"},
		{"unhealthy-catalog", 1, "example", "Degraded"},
		{"plan-times-out", 2, "example", "Degraded"},
	} {
		s := subscription(t, scenarioUntil(t, c.scenario, c.runs), c.sub)
		if got := argoHealth(s); got != c.want {
			t.Errorf("%s after %d runs: %s, want %s: %+v", c.scenario, c.runs, got, c.want, s.Status.Conditions)
		}
	}
}

// concerns reports whether an OperatorPolicy assigns a message to a subscription.
func concerns(s *olm.Subscription, message string) bool {
	name, pkg := regexp.QuoteMeta(s.Metadata.Name), regexp.QuoteMeta(s.Spec.Package)
	ns := regexp.QuoteMeta(s.Metadata.Namespace) + "/"
	return regexp.MustCompile(`(?:subscription (?:` + name + `|` + ns + name + `)|package (?:` + pkg + `|` + ns + pkg + `))(?:$|\s|,|:)`).MatchString(message)
}

func testPolicyResolution(t *testing.T) {
	for _, c := range []struct {
		scenario string
		runs     int
		sub      string
		other    string // which the message does not concern
	}{
		{"no-solution", 1, "a", "example"},
		{"owner-conflict", 1, "example", ""},
		{"stuck-upgrade", 3, "example", ""},
	} {
		w := scenarioUntil(t, c.scenario, c.runs)
		s := subscription(t, w, c.sub)
		failed := condition(s, "ResolutionFailed")
		if failed.Status != "True" || failed.Reason != "ConstraintsNotSatisfiable" {
			t.Errorf("%s: ResolutionFailed is %+v", c.scenario, failed)
			continue
		}
		if !strings.HasPrefix(failed.Message, "constraints not satisfiable: ") || !concerns(s, failed.Message) {
			t.Errorf("%s: a policy for subscription %s does not recognize %q", c.scenario, c.sub, failed.Message)
		}
		if c.other == "" {
			continue
		}
		if o := subscription(t, w, c.other); concerns(o, failed.Message) {
			t.Errorf("%s: a policy for subscription %s takes %q for its own", c.scenario, c.other, failed.Message)
		}
	}
}

func testPolicyExisting(t *testing.T) {
	unreferenced := regexp.MustCompile(`clusterserviceversion (\S*) exists and is not referenced by a subscription`)
	for _, scenario := range []string{"no-solution", "owner-conflict", "stuck-upgrade"} {
		for runs := 1; runs <= 3; runs++ {
			for _, o := range scenarioUntil(t, scenario, runs).List() {
				if o.Kind != olm.KindSubscription {
					continue
				}
				s, err := olm.As[olm.Subscription](o)
				if err != nil {
					t.Fatal(err)
				}
				if m := condition(s, "ResolutionFailed").Message; unreferenced.MatchString(m) {
					t.Errorf("%s: a policy would change the status of %s: %q", scenario, s.Key(), m)
				}
			}
		}
	}
}

func testPolicyCSVs(t *testing.T) {
	w := scenarioUntil(t, "install-with-dependencies", 1)
	found := map[string]string{}
	for _, o := range w.List() {
		if o.Kind == olm.KindClusterServiceVersion && o.Metadata.Labels[olm.LabelCopiedFrom] == "" {
			for label := range o.Metadata.Labels {
				if name, ok := strings.CutPrefix(label, "operators.coreos.com/"); ok {
					found[name] = o.Metadata.Name
				}
			}
		}
	}
	for _, o := range w.List() {
		if o.Kind != olm.KindSubscription {
			continue
		}
		s, err := olm.As[olm.Subscription](o)
		if err != nil {
			t.Fatal(err)
		}
		if got := found[s.Spec.Package+"."+s.Metadata.Namespace]; got == "" || got != s.Status.InstalledCSV {
			t.Errorf("by the label of package %s, a policy finds %q, want %q", s.Spec.Package, got, s.Status.InstalledCSV)
		}
	}
	if len(found) < 2 {
		t.Errorf("found %v, want a CSV and its dependency", found)
	}
}

// An OperatorPolicy approves an install plan only if it finds a reason for each CSV: its
// subscription, or a dependency that a bundle in the plan requires by package.
func testPolicyApproval(t *testing.T) {
	w := scenarioUntil(t, "held-back-dependency", 1)
	s := subscription(t, w, "vault")
	var plan *olm.InstallPlan
	for _, o := range w.List() {
		if o.Kind != olm.KindInstallPlan {
			continue
		}
		ip, err := olm.As[olm.InstallPlan](o)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(ip.Spec.ClusterServiceVersionNames, s.Status.CurrentCSV) && (plan == nil || ip.Spec.Generation > plan.Spec.Generation) {
			plan = ip
		}
	}
	if plan == nil || len(plan.Spec.ClusterServiceVersionNames) != 2 {
		t.Fatalf("the plan for %s is %+v, want one with a dependency", s.Status.CurrentCSV, plan)
	}
	approved := []string{s.Status.CurrentCSV}
	for _, l := range plan.Status.BundleLookups {
		var v struct {
			Properties []struct {
				Type  string
				Value struct{ PackageName string }
			}
		}
		if l.Identifier != s.Status.CurrentCSV {
			continue
		}
		if err := json.Unmarshal([]byte(l.Properties), &v); err != nil {
			t.Fatal(err)
		}
		for _, p := range v.Properties {
			for _, name := range plan.Spec.ClusterServiceVersionNames {
				if p.Type == "olm.package.required" && strings.HasPrefix(name, p.Value.PackageName+".v") {
					approved = append(approved, name)
				}
			}
		}
	}
	slices.Sort(approved)
	if !slices.Equal(approved, plan.Spec.ClusterServiceVersionNames) {
		t.Errorf("a policy approves %v of %v", approved, plan.Spec.ClusterServiceVersionNames)
	}
}

// OpenShift Data Foundation ships operators with no replicas. It sets them in the CSV, once
// there is a resource for the operator.
func testDataFoundation(t *testing.T) {
	w := scenarioUntil(t, "drift", 1)
	scale := func(replicas int) {
		t.Helper()
		for _, o := range w.List() {
			if _, ok := o.Metadata.Labels["operators.coreos.com/example.ops"]; !ok || o.Kind != olm.KindClusterServiceVersion || o.Metadata.Namespace != testNamespace {
				continue
			}
			csv, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				t.Fatal(err)
			}
			spec := csv.Spec.Install.Spec.Deployments[0].Spec
			csv.Spec.Install.Spec.Deployments[0].Spec = regexp.MustCompile(`"replicas": ?\d`).ReplaceAll(spec, fmt.Appendf(nil, `"replicas":%d`, replicas))
			w.put(t, csv)
		}
		undisturbed(t, w)
		d := get[olm.Deployment](t, w.Cluster, "Deployment", testNamespace+"/example")
		if text := string(d.Spec); !strings.Contains(text, fmt.Sprintf(`"replicas":%d`, replicas)) {
			t.Errorf("the CSV has %d replicas, and its deployment %s", replicas, text)
		}
	}
	scale(0)
	scale(1)
}

// approveFor approves the install plan to which a new subscription refers.
func approveFor(t *testing.T, w *world, name string) *olm.InstallPlan {
	t.Helper()
	ref := subscription(t, w, name).Status.InstallPlanRef
	if ref == nil {
		t.Fatalf("subscription %s refers to no install plan", name)
	}
	ip := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, ref.Namespace+"/"+ref.Name)
	ip.Spec.Approved = true
	w.put(t, ip)
	undisturbed(t, w)
	return get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, ref.Namespace+"/"+ref.Name)
}

func testRunBundle(t *testing.T) {
	w := scenarioUntil(t, "manual-upgrade", 1)
	ip := approveFor(t, w, "example")
	csv := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, testNamespace+"/"+ip.Spec.ClusterServiceVersionNames[0])
	if csv.Status.Phase != "Succeeded" {
		t.Errorf("run bundle waits for %s, which is %s", csv.Key(), csv.Status.Phase)
	}
}

func testKubectlInstall(t *testing.T) {
	w := scenarioUntil(t, "manual-upgrade", 1)
	ip := approveFor(t, w, "example")
	if ip.Status.Phase != "Complete" || len(ip.Spec.ClusterServiceVersionNames) != 1 {
		t.Errorf("the install plan is %s and lists %v", ip.Status.Phase, ip.Spec.ClusterServiceVersionNames)
	}
}

func testKubectlUninstall(t *testing.T) {
	w := scenarioUntil(t, "drift", 1)
	s := subscription(t, w, "example")
	if s.Status.CurrentCSV != s.Status.InstalledCSV {
		t.Fatalf("current is %s and installed is %s", s.Status.CurrentCSV, s.Status.InstalledCSV)
	}
	csv := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, testNamespace+"/"+s.Status.InstalledCSV)
	for _, k := range []olm.Key{s.Key(), csv.Key()} {
		if err := w.Delete(k); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range csv.Spec.CRDs.Owned {
		if err := w.Delete(key(olm.KindCRD, "-/"+d.Name)); err != nil {
			t.Error(err)
		}
	}
	undisturbed(t, w)
	o := get[olm.Operator](t, w.Cluster, olm.KindOperator, "-/example.ops")
	if o.Status.Components == nil || len(o.Status.Components.Refs) > 0 {
		t.Errorf("the Operator lists %+v after everything is gone", o.Status.Components)
	}
}

func testConsole(t *testing.T) {
	for _, c := range []struct {
		scenario string
		runs     int
		want     olm.SubscriptionState
	}{
		{"manual-upgrade", 1, olm.StateUpgradePending},
		{"stuck-upgrade", 3, olm.StateAtLatestKnown},
		{"plan-times-out", 2, olm.StateUpgradePending},
	} {
		if s := subscription(t, scenarioUntil(t, c.scenario, c.runs), "example"); s.Status.State != c.want {
			t.Errorf("%s after %d runs: %s, want %s", c.scenario, c.runs, s.Status.State, c.want)
		}
	}
}

func testOperatorObjects(t *testing.T) {
	o := get[olm.Operator](t, scenarioUntil(t, "drift", 1).Cluster, olm.KindOperator, "-/example.ops")
	kinds := map[string]bool{}
	for _, r := range o.Status.Components.Refs {
		kinds[r.Kind] = true
	}
	for _, kind := range []string{"ClusterServiceVersion", "CustomResourceDefinition", "Deployment", "InstallPlan", "OperatorCondition", "ServiceAccount", "Subscription"} {
		if !kinds[kind] {
			t.Errorf("the Operator lists no %s: %v", kind, o.Status.Components.Refs)
		}
	}
}
