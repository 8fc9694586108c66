package reconcile_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// The invariants themselves: each finds the write that violates it. A check that cannot fail
// would prove nothing about the loop.
func TestInvariantsFind(t *testing.T) {
	const (
		csv  = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n"
		plan = "apiVersion: operators.coreos.com/v1alpha1\nkind: InstallPlan\n"
		crd  = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.x.io}\n"
		both = `spec: {group: x.io, names: {kind: A, plural: as}, versions: [{name: v1, served: true, storage: false}, {name: v2, served: true, storage: true}]}`
		less = `spec: {group: x.io, names: {kind: A, plural: as}, versions: [{name: v2, served: true, storage: true}]}`
	)
	owner := csv + "metadata: {name: a.v1, namespace: ops}\nspec: {customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}]}}\nstatus: {phase: Succeeded}\n"
	tenant := csv + "metadata: {name: t.v1, namespace: tenant}\nspec: {customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}]}}\nstatus: {phase: Succeeded}\n"
	user := csv + "metadata: {name: u.v1, namespace: ops}\nspec: {customresourcedefinitions: {required: [{name: as.x.io, version: v1, kind: A}]}}\nstatus: {phase: Succeeded}\n"
	approved := plan + "metadata: {name: p, namespace: ops}\nspec: {approved: true, generation: 1}\nstatus: {phase: Installing, plan: [{resource: {kind: ClusterServiceVersion, name: b.v1}, status: Unknown}, {resource: {kind: CustomResourceDefinition, name: as.x.io}, status: Unknown}]}\n"
	waiting := strings.NewReplacer("approved: true", "approved: false", "phase: Installing", "phase: RequiresApproval").Replace(approved)
	runner := func(phase string) string {
		return csv + "metadata: {name: a.v1, namespace: ops}\nspec: {install: {spec: {deployments: [{name: op}]}}}\nstatus: {phase: " + phase + "}\n"
	}
	deployed := func(labels string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op, namespace: ops, labels: " + labels + "}\n"
	}
	const bringing = plan + "metadata: {name: p, namespace: ops}\nspec: {approved: true, generation: 1, clusterServiceVersionNames: [a.v1]}\nstatus: {phase: Installing, plan: [{resolving: a.v1, resource: {kind: Role, name: r}, status: Unknown}]}\n"
	const byHand = "apiVersion: operators.coreos.com/v1alpha1\nkind: Subscription\nmetadata: {name: s, namespace: ops}\nspec: {installPlanApproval: Manual}\n"
	ofPlan := key(olm.KindInstallPlan, "ops/p")
	for _, c := range []struct {
		name, before string
		op           reconcile.Op
		change       string
		by           olm.Key // the object itself when zero
		want         string
	}{
		{"E2 step of an approved plan", approved, reconcile.Create, csv + "metadata: {name: b.v1, namespace: ops}", ofPlan, ""},
		{"E2 CSV of an unapproved plan", waiting, reconcile.Create, csv + "metadata: {name: b.v1, namespace: ops}", ofPlan, "is not approved and being executed"},
		{"E2 service account of an unapproved plan", waiting, reconcile.Create, "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: s, namespace: ops}", ofPlan, "is not approved and being executed"},
		{"E2 CRD of an unapproved plan", waiting + "---\n" + crd + both, reconcile.Update, crd + both, ofPlan, "is not approved and being executed"},
		{"E9 approved although one wants it by hand", byHand, reconcile.Create, approved, olm.Key{}, "a subscription wants approval by hand"},
		{"E9 by hand and not approved", byHand, reconcile.Create, waiting, olm.Key{}, ""},
		{"E2 approved by nobody", waiting, reconcile.Update, approved, olm.Key{}, "plan p is approved by nobody"},
		{"E2 not a step", approved, reconcile.Create, csv + "metadata: {name: c.v1, namespace: ops}", ofPlan, "is no step of it"},
		{"E2 CSV of no plan", approved, reconcile.Create, csv + "metadata: {name: b.v1, namespace: ops}", olm.Key{}, "which is no install plan"},
		{"E2 unapproved plan that installs", waiting, reconcile.UpdateStatus, strings.Replace(approved, "approved: true", "approved: false", 1), olm.Key{}, "plan p is Installing and not approved"},
		{"E2 unapproved plan with a step done", waiting, reconcile.UpdateStatus, strings.Replace(waiting, "status: Unknown", "status: Created", 1), olm.Key{}, "is Created"},
		{"E2 two plans of a generation", approved, reconcile.Create, strings.Replace(approved, "name: p", "name: q", 1), olm.Key{}, "are both of generation 1"},
		{"D10 two versions", owner + "---\n" + strings.Replace(approved, "b.v1", "a.v2", 1), reconcile.Create, csv + "metadata: {name: a.v2, namespace: ops}", ofPlan, "two versions of a package"},
		{"D10 two versions run", owner + "---\n" + csv + "metadata: {name: a.v2, namespace: ops}\nspec: {replaces: a.v1}\nstatus: {phase: Pending}\n", reconcile.UpdateStatus,
			csv + "metadata: {name: a.v2, namespace: ops}\nspec: {replaces: a.v1}\nstatus: {phase: InstallReady}\n", olm.Key{}, "run at once"},
		{"E3 deleted without a successor", owner, reconcile.Delete, owner, olm.Key{}, "none that replaces it has succeeded"},
		{"E3 deleted too early", owner + "---\n" + csv + "metadata: {name: a.v2, namespace: ops}\nspec: {replaces: a.v1}\nstatus: {phase: Installing}\n", reconcile.Delete, owner, olm.Key{}, "none that replaces it has succeeded"},
		{"E3 deleted in time", strings.Replace(owner, "Succeeded", "Deleting", 1) + "---\n" + csv + "metadata: {name: a.v2, namespace: ops}\nspec: {replaces: a.v1}\nstatus: {phase: Failed}\n---\n" + csv + "metadata: {name: a.v3, namespace: ops}\nspec: {replaces: a.v2}\nstatus: {phase: Succeeded}\n", reconcile.Delete, owner, olm.Key{}, ""},
		{"E36 succeeded without a deployment", runner("Installing"), reconcile.UpdateStatus, runner("Succeeded"), olm.Key{}, "succeeds without its deployment op"},
		{"E36 succeeded too early", runner("Installing") + "---\n" + deployed("{down: a}"), reconcile.UpdateStatus, runner("Succeeded"), olm.Key{}, "its deployment op is not available"},
		{"E40 succeeded before its plan", runner("Installing") + "---\n" + deployed("{}") + "---\n" + bringing, reconcile.UpdateStatus, runner("Succeeded"), olm.Key{}, "the step Role r of plan p is Unknown"},
		{"E40 succeeded in time", runner("Installing") + "---\n" + deployed("{}") + "---\n" + strings.Replace(bringing, "Unknown", "Created", 1), reconcile.UpdateStatus, runner("Succeeded"), olm.Key{}, ""},
		{"E2 a plan for something else", approved, reconcile.Update, strings.Replace(approved, "generation: 1", "generation: 1, clusterServiceVersionNames: [x.v1]", 1), olm.Key{}, "and is for [\"x.v1\"]"},
		{"E2 another step", approved, reconcile.UpdateStatus, strings.Replace(approved, "name: b.v1", "name: x.v1", 1), olm.Key{}, "loses its step ClusterServiceVersion b.v1"},
		{"E2 a step with another manifest", approved, reconcile.UpdateStatus, strings.Replace(approved, "name: b.v1", "name: b.v1, manifest: '{}'", 1), olm.Key{}, "or has it otherwise"},
		{"D1 API taken away", owner + "---\n" + user, reconcile.Delete, owner, olm.Key{}, "taken from under u.v1"},
		{"E7 version of a resource", crd + both + "\n---\n" + approved + "---\napiVersion: x.io/v1\nkind: A\nmetadata: {name: a, namespace: ops}\n", reconcile.Update, crd + less, ofPlan, "which custom resources are of"},
		{"E7 version of another owner", crd + both + "\n---\n" + approved + "---\n" + owner + "---\n" + tenant, reconcile.Update, crd + less, ofPlan, "no longer serves version v1"},
		{"E7 version that is required", crd + both + "\n---\n" + approved + "---\n" + owner + "---\n" + user, reconcile.Update, crd + less, ofPlan, "which ClusterServiceVersion ops/u.v1 uses"},
		{"E7 unused version", crd + both + "\n---\n" + approved + "---\n" + owner, reconcile.Update, crd + less, ofPlan, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &memcluster.Cluster{Controllers: true, Available: func(d *olm.Deployment) bool { return d.Metadata.Labels["down"] == "" }}
			if err := cluster.Put(resources(objects(t, []byte(c.before)))...); err != nil {
				t.Fatal(err)
			}
			w := watch{}
			before := w.view(cluster.List())
			o := objects(t, []byte(c.change))[0]
			if old, err := cluster.Get(o.Key()); err == nil {
				o.Metadata.ResourceVersion = old.Metadata.ResourceVersion
			}
			change := reconcile.Change{Op: c.op, Object: o, For: c.by}
			if c.by == (olm.Key{}) {
				change.For = o.Key()
			}
			if _, err := cluster.Apply(t.Context(), change); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, err := range invariants(&change, before, w.view(cluster.List())) {
				got = append(got, err.Error())
			}
			if text := strings.Join(got, "; "); (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
				t.Errorf("found %q, want %q", text, c.want)
			}
		})
	}
}
