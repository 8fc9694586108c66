package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// olmOperator is a deployment of OLM, as its release has it, with a number of replicas.
func olmOperator(replicas int) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: olm-operator, namespace: olm},
		spec: {replicas: %d, selector: {matchLabels: {app: olm-operator}}, template: {metadata: {labels: {app: olm-operator}}, spec: {containers: [{name: olm-operator, command: [/bin/olm]}]}}}}`, replicas)
}

// E34: while OLM runs, a plan has no changes and reports where OLM runs, unless that is to
// be ignored. Once it is stopped, the operator is installed.
func TestNothingIsWrittenWhileOLMRuns(t *testing.T) {
	w := worldOf(t, "drift")
	w.existing(t, olmOperator(1))
	run := func(ignore bool) *reconcile.Result {
		t.Helper()
		l := w.loop()
		l.Options.IgnoreOLM = ignore
		r, err := l.Run(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run(false)
	want := []string{"Deployment olm/olm-operator: runs OLM; nothing is written, because two controllers would undo each other's writes; scale the deployment to 0 replicas, or delete it"}
	if got := notes(r.Plan); r.Changes > 0 || !slices.Equal(got, want) || r.Plan.Notes[0].Rule != "E34" {
		t.Errorf("got %d changes and notes %q, want none and %q", r.Changes, got, want)
	}
	if diff := gocmp.Diff([]reconcile.Sighting{{Object: key("Deployment", "olm/olm-operator")}}, r.Plan.Paused); diff != "" {
		t.Errorf("paused (-want +got):\n%s", diff)
	}
	ignored := *w
	ignored.Cluster = w.Clone()
	running := w.Cluster
	w.Cluster = ignored.Cluster
	r = run(true)
	if r.Changes == 0 || len(r.Plan.Paused) > 0 {
		t.Errorf("with IgnoreOLM, got %d changes, paused by %v", r.Changes, r.Plan.Paused)
	}
	noted(t, r.Plan, "olm-operator", "OLM writes the same objects as olmkit; scale the deployment to 0 replicas")
	w.Cluster = running
	if err := w.Delete(key("Deployment", "olm/olm-operator")); err != nil {
		t.Fatal(err)
	}
	r = run(false)
	if r.Changes == 0 || len(notes(r.Plan)) > 0 {
		t.Errorf("after OLM was stopped, got %d changes and notes %q", r.Changes, notes(r.Plan))
	}
}

func notes(p *reconcile.Plan) (list []string) {
	for _, n := range p.Notes {
		list = append(list, n.String())
	}
	return list
}

// E34: without a deployment, an object that OLM changed after olmkit had written it shows
// for ten minutes that OLM runs. The plan is due when OLM counts as stopped.
func TestOLMChangedObjects(t *testing.T) {
	w := worldOf(t, "drift")
	s, err := w.Read(t.Context(), testNamespace)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s.OLM = []reconcile.Sighting{
		{Object: key(olm.KindSubscription, "ops/example"), Wrote: at.Add(time.Minute)},
		{Object: key(olm.KindClusterServiceVersion, "ops/example.v0.1.1"), Wrote: at},
	}
	for _, tt := range []struct {
		after time.Duration
		seen  int
	}{{2 * time.Minute, 2}, {10 * time.Minute, 1}, {11 * time.Minute, 0}} {
		s.Now = at.Add(tt.after)
		plan, err := reconcile.Decide(t.Context(), s, w.content, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Paused) != tt.seen || (len(plan.Changes) == 0) != (tt.seen > 0) {
			t.Errorf("after %s, got %d changes, paused by %v", tt.after, len(plan.Changes), plan.Paused)
		}
		if tt.seen == 0 {
			continue
		}
		if end := at.Add(11 * time.Minute); !plan.Due.Equal(end) {
			t.Errorf("after %s, the plan is due at %s, want %s", tt.after, plan.Due, end)
		}
		noted(t, plan, "example", "was changed by OLM at 2026-01-01T12:01:00Z, after olmkit had written it; nothing is written, because two controllers would undo each other's writes; stop OLM, which counts as stopped at 2026-01-01T12:11:00Z")
	}
	s.Now = time.Time{} // without a clock, nothing ends
	if plan, err := reconcile.Decide(t.Context(), s, w.content, nil); err != nil || len(plan.Paused) != 2 {
		t.Errorf("without a clock, paused by %v, %v", plan.Paused, err)
	}
}

// E34: OLM's controllers are recognized by their names and commands, and run as long as they
// have or should have replicas.
func TestIsOLM(t *testing.T) {
	for _, tt := range []struct {
		name, replace, by string
		want              bool
	}{
		{"as released", "", "", true},
		{"the catalog operator", "olm", "catalog", true},
		{"no command", "command: [/bin/olm]", "image: olm", true},
		{"one replica by default", "replicas: 1", "paused: false", true},
		{"stopped", "replicas: 1", "replicas: 0", false},
		{"stopping", "replicas: 1", "replicas: 0, stopping: true", true},
		{"another command", "/bin/olm", "/bin/shop", false},
		{"another name", "name: olm-operator", "name: my-operator", false},
		{"no spec", "spec: {replicas", "x: {replicas", false},
	} {
		var d olm.Deployment
		text := olmOperator(1)
		if tt.replace != "" {
			text = strings.ReplaceAll(text, tt.replace, tt.by)
		}
		if err := yaml.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, "stopping") {
			d.Status.Replicas = 1
		}
		if got := reconcile.IsOLM(&d); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
