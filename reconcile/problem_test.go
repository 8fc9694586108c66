package reconcile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// TestProblem (E9, E12): the problem of a namespace is the one that Decide resolves, also
// while an install plan is pending, without subscriptions whose operator is being installed.
func TestProblem(t *testing.T) {
	index, err := graph.LoadReader(t.Context(), strings.NewReader(planCatalog), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	catalogs := &reconcile.Catalogs{StandIns: true}
	catalogs.AddGraph(resolver.CatalogID{Name: "community", Namespace: "olm"}, index)
	problem := func(more string) (*reconcile.Snapshot, *resolver.Problem, []reconcile.Note) {
		t.Helper()
		var objects []olm.Object
		if err := json.Unmarshal([]byte(strings.TrimSuffix(planObjects, "]")+more+"]"), &objects); err != nil {
			t.Fatal(err)
		}
		s, err := reconcile.NewSnapshot("operators", "olm", objects)
		if err != nil {
			t.Fatal(err)
		}
		p, notes, err := reconcile.Problem(t.Context(), s, catalogs, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s, p, notes
	}
	asJSON := func(p *resolver.Problem) string {
		t.Helper()
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	s, got, notes := problem("")
	plan, err := reconcile.Decide(t.Context(), s, catalogs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(plan.Problem), asJSON(got)); diff != "" || len(notes) > 0 {
		t.Errorf("notes %v, problem:\n%s", notes, diff)
	}

	const installing = `,
{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": {"name": "etcd.v1.0.0", "namespace": "operators"},
 "spec": {"version": "1.0.0"}, "status": {"phase": "Installing"}},
{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": {"name": "etcd", "namespace": "operators"},
 "spec": {"name": "etcd", "channel": "stable", "source": "community", "sourceNamespace": "olm"}, "status": {"installedCSV": "etcd.v1.0.0"}}`
	_, got, notes = problem(installing)
	if len(got.Installed) != 1 || len(notes) != 1 || !strings.Contains(notes[0].String(), "etcd.v1.0.0 is still being installed") {
		t.Errorf("installed %v, notes %v", got.Installed, notes)
	}
}
