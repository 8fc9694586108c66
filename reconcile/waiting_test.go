package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// unexplained returns the objects of a settled namespace that are not in their desired state
// and that no note names.
func unexplained(t testing.TB, c *memcluster.Cluster, plan *reconcile.Plan) (odd int, unnamed []olm.Key) {
	t.Helper()
	named := map[olm.Key]bool{}
	for _, n := range plan.Notes {
		if n.Code != reconcile.NoteAdvice {
			named[n.Object] = true
		}
	}
	for _, o := range c.List() {
		if o.Metadata.Namespace != testNamespace {
			continue
		}
		fine := true
		switch o.Kind {
		case olm.KindClusterServiceVersion:
			csv, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				t.Fatal(err)
			}
			fine = olm.IsCopied(csv) || csv.Status.Phase == olm.PhaseSucceeded
		case olm.KindSubscription:
			sub, err := olm.As[olm.Subscription](o)
			if err != nil {
				t.Fatal(err)
			}
			fine = sub.Status.State == olm.StateAtLatestKnown
		case olm.KindInstallPlan:
			ip, err := olm.As[olm.InstallPlan](o)
			if err != nil {
				t.Fatal(err)
			}
			fine = ip.Status.Phase == olm.PlanComplete || ip.Status.Phase == olm.PlanFailed
		}
		if o.Metadata.IsDeleted() {
			fine = false
		}
		if !fine {
			odd++
			if !named[o.Key()] {
				unnamed = append(unnamed, o.Key())
			}
		}
	}
	return odd, unnamed
}

// A plan without changes reports what the namespace waits for: whenever a scenario settles,
// a note names each operator that has not succeeded, each subscription that is not at the
// latest version, and each plan that is not done.
func TestNotesSayForWhat(t *testing.T) {
	n := tallied(t, "settled states", "objects that wait")
	each(t, func(t *testing.T, _ string, a *txtar.Archive) {
		t.Parallel()
		w := newWorld(t, a)
		w.script(t, func(*strings.Builder) {
			r, err := w.loop().Run(t.Context(), testNamespace)
			if errors.Is(err, errRefused) {
				return // not settled: the cluster refuses changes
			}
			if err != nil {
				t.Fatal(err)
			}
			odd, unnamed := unexplained(t, w.Cluster, r.Plan)
			n[0].Add(1)
			n[1].Add(int64(odd))
			if len(unnamed) > 0 {
				t.Errorf("no note names %v; the notes are %v", unnamed, r.Plan.Notes)
			}
		})
	})
}

// A CSV with unmet requirements reports some of them but does not list all.
func TestMissingRequirementsNamed(t *testing.T) {
	c, plan := settle(t, nil, `---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v1, namespace: ops}
spec:
  installModes: [{type: AllNamespaces, supported: true}]
  customresourcedefinitions: {required: [{name: as.x.io, version: v1, kind: A}, {name: bs.x.io, version: v1, kind: B}, {name: cs.x.io, version: v1, kind: C}, {name: ds.x.io, version: v1, kind: D}, {name: es.x.io, version: v1, kind: E}]}
  install: {strategy: deployment, spec: {deployments: []}}
`)
	const want = "one or more requirements couldn't be found: CustomResourceDefinition as.x.io (CRD is not present), CustomResourceDefinition bs.x.io (CRD is not present), CustomResourceDefinition cs.x.io (CRD is not present) and 2 more"
	if got := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v1").Status.Message; got != want {
		t.Errorf("the CSV has message %q, want %q", got, want)
	}
	noted(t, plan, "a.v1", want)
}

// E7: a CRD that cannot be upgraded has a message with why and what to do, while the plan is
// tried again and when it has failed.
func TestRefusedUpgradeSaysWhatToDo(t *testing.T) {
	for file, remedy := range map[string]string{
		"crd-upgrade-shared":  "to continue, change these objects to match the new schema",
		"crd-version-dropped": "to continue, keep these versions in the new definition",
	} {
		w := worldOf(t, file)
		now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		w.Now = func() time.Time { return now }
		found := 0
		run := func() {
			r, err := w.loop().Run(t.Context(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range r.Plan.Notes {
				if n.Object.Kind == olm.KindInstallPlan && strings.Contains(n.Message, "cannot be upgraded: ") && strings.Contains(n.Message, remedy) {
					found++
				}
			}
		}
		w.script(t, func(*strings.Builder) {
			run()
			now = now.Add(2 * time.Minute)
			run()
		})
		if found < 2 {
			t.Errorf("%s: %d notes say %q, want one while it is tried and one when it failed", file, found, remedy)
		}
	}
}
