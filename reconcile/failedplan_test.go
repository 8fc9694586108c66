package reconcile_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// E2: the reason why an install plan failed is reported from any field of its status.
func TestFailedPlanCause(t *testing.T) {
	for _, c := range []struct{ name, status, want string }{
		{"message", `message: the API server refused it`, "failed and is not retried: the API server refused it; to try again, "},
		{"condition", `conditions: [{type: Installed, status: "False", reason: InstallComponentFailed, message: error creating csv a.v1}]`,
			"failed and is not retried: error creating csv a.v1; to try again, "},
		{"reason", `conditions: [{type: Installed, status: "False", reason: InstallComponentFailed}]`,
			"failed and is not retried: InstallComponentFailed; to try again, "},
		{"bundle", `bundleLookups: [{identifier: a.v1, path: example.com/a, conditions: [{type: BundleLookupFailed, status: "True", reason: DeadlineExceeded, message: the job took too long}]}]`,
			"failed and is not retried: bundle a.v1: the job took too long; to try again, "},
		{"nothing", `conditions: [{type: Installed, status: "True"}]`,
			"failed and is not retried: its status does not give the cause; to try again, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := reconcile.NewSnapshot(testNamespace, "olm", objects(t, []byte(`
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: og, namespace: ops}
status: {namespaces: [""]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: a, namespace: ops}
spec: {name: a, channel: s, source: c, sourceNamespace: olm}
status: {currentCSV: a.v1, state: UpgradePending, installPlanRef: {name: install-1}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: install-1, namespace: ops}
spec: {clusterServiceVersionNames: [a.v1], approval: Automatic, approved: true, generation: 1}
status: {phase: Failed, `+c.status+`}
`)))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := reconcile.Decide(t.Context(), s, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			noted(t, plan, "install-1", c.want)
		})
	}
}

// E33: an install plan waits for a missing permission, however long that takes.
func TestForbiddenIsNotFinal(t *testing.T) {
	w := worldOf(t, "drift")
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	w.Now = func() time.Time { return now }
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if c.Object.Kind == "Role" && c.For.Kind == olm.KindInstallPlan {
			return fmt.Errorf("a Role: %w", reconcile.ErrForbidden)
		}
		return apply()
	}
	for range 3 {
		if _, err := w.loop().Run(t.Context(), testNamespace); !errors.Is(err, reconcile.ErrForbidden) {
			t.Fatal(err)
		}
		ref := subscription(t, w, "example").Status.InstallPlanRef
		if st := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+ref.Name).Status; st.Phase != olm.PlanInstalling || !strings.Contains(st.Message, "not permitted") {
			t.Fatalf("the plan is %s: %s", st.Phase, st.Message)
		}
		now = now.Add(time.Hour)
	}
	w.Intercept = nil
	if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	atRest(t, w.Cluster)
}

// E8: a CatalogSource with an invalid spec is not read, whether its status has a
// message or not.
func TestInvalidCatalogSource(t *testing.T) {
	for _, status := range []olm.CatalogSourceStatus{{Reason: "SpecInvalidError"}, {Reason: "SpecInvalidError", Message: "image is missing"}} {
		w := worldOf(t, "default-channel")
		for _, o := range w.List() {
			if o.Kind == olm.KindCatalogSource {
				changed, err := o.Set("status", status)
				if err != nil {
					t.Fatal(err)
				}
				w.put(t, &changed)
			}
		}
		s, err := w.Read(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := reconcile.Decide(t.Context(), s, w.content, nil)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Refused == nil {
			t.Errorf("status %+v: the catalog was read", status)
		}
	}
}

// E4: callers can match the error of a chosen bundle without usable manifests.
func TestManifestError(t *testing.T) {
	w := worldOf(t, "no-manifests")
	var found *reconcile.ManifestError
	l := w.loop()
	r, err := l.Run(t.Context(), testNamespace)
	if err != nil {
		t.Fatal(err)
	}
	if !errors.As(r.Plan.Refused, &found) || found.Bundle == "" || found.Err == nil || !strings.Contains(found.Error(), found.Bundle) {
		t.Errorf("refused with %v, want a *ManifestError with its bundle", r.Plan.Refused)
	}
}

// E2, E12: a failed install plan is not reported while another one replaces it. A failed
// plan that stays is reported together with the new one.
func TestFailedPlanReplaced(t *testing.T) {
	for _, c := range []struct {
		name, status, csv string
		noted             bool
	}{
		{name: "planned again", status: "currentCSV: a.v2, state: UpgradePending"},
		{name: "followed by an upgrade", status: "currentCSV: a.v2, installedCSV: a.v2, state: AtLatestKnown", csv: "Succeeded"},
		{name: "still installing", status: "currentCSV: a.v2, installedCSV: a.v2, state: UpgradePending", csv: "Pending", noted: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := groupAndSource + `apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: a, namespace: ops}
spec: {name: a, channel: s, source: c, sourceNamespace: olm}
status: {` + c.status + `, installPlanRef: {name: install-1}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: e, namespace: ops}
spec: {name: e, channel: s, source: c, sourceNamespace: olm}
---
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: install-1, namespace: ops, labels: {olm.managed: "true"}}
spec: {clusterServiceVersionNames: [a.v2], approval: Automatic, approved: true, generation: 1}
status: {phase: Failed, message: The API server refused it.}
`
			if c.csv != "" {
				text += `---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v2, namespace: ops}
spec: {version: 2.0.0, install: {strategy: deployment}, installModes: [{type: AllNamespaces, supported: true}]}
status: {phase: ` + c.csv + `}
`
			}
			cluster := &memcluster.Cluster{GlobalNamespace: "olm"}
			for _, o := range objects(t, []byte(text)) {
				if err := cluster.Put(&o); err != nil {
					t.Fatal(err)
				}
			}
			content := chains(t, map[string]int{"a": 3, "e": 1})
			created, referred := false, false
			for pass := 1; !referred && pass < 10; pass++ {
				s, err := cluster.Read(t.Context(), testNamespace)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := reconcile.Decide(t.Context(), s, content, nil)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range plan.Notes {
					if strings.HasPrefix(n.Message, "superseded") {
						t.Errorf("pass %d: %s; it was just made", pass, n)
					}
				}
				noted := slices.ContainsFunc(plan.Notes, func(n reconcile.Note) bool {
					return n.Object.Name == "install-1" && strings.HasPrefix(n.Message, "failed and is not retried: The API server refused it; to try again, ")
				})
				for _, change := range plan.Changes {
					k := change.Key()
					created = created || k.Kind == olm.KindInstallPlan && change.Op == reconcile.Create
					referred = referred || created && k.Kind == olm.KindSubscription && k.Name == "e" && strings.Contains(change.Reason, "e.v1 was chosen")
					if _, err := cluster.Apply(t.Context(), change); err != nil {
						t.Fatal(err)
					}
				}
				if (created || c.noted) && noted != c.noted {
					t.Errorf("pass %d: the failed plan is noted: %t, want %t; the changes are %v, the notes %v", pass, noted, c.noted, plan.Changes, plan.Notes)
				}
			}
			if !referred {
				t.Error("no new plan was made and referred to")
			}
		})
	}
}
