package reconcile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

const thingsCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.io"},
"spec":{"group":"x.io","scope":"Namespaced","names":{"kind":"Thing","plural":"things"},"versions":[{"name":"v1","served":true,"storage":true}]}}`

const thingsCSV = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"a.v1","namespace":"ops"},
"spec":{"installModes":[{"type":"AllNamespaces","supported":true}],"install":{"strategy":"deployment","spec":{"deployments":[]}}}}`

type stepText struct{ kind, name, status, manifest string }

// planYAML is an approved install plan that a user wrote.
func planYAML(t *testing.T, more string, steps ...stepText) string {
	t.Helper()
	var list []olm.Step
	for _, s := range steps {
		group, version := "operators.coreos.com", "v1alpha1"
		switch s.kind {
		case olm.KindCRD:
			group, version = olm.GroupCRD, "v1"
		case "ServiceAccount":
			group, version = "", "v1"
		}
		list = append(list, olm.Step{Resolving: "a.v1", Status: olm.StepStatus(s.status), Resource: olm.StepResource{Group: group, Version: version, Kind: s.kind, Name: s.name, Manifest: s.manifest}})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: install-1, namespace: ops}
spec: {clusterServiceVersionNames: [a.v1], approval: Automatic, approved: true}
status: {phase: Installing, plan: %s%s}
`, text, more)
}

// E3: no CSV is created before the CRDs of its plan, wherever they are in it, and the cause
// of a delay is reported.
func TestCSVWaitsForCRDs(t *testing.T) {
	const lesser = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.x.io"},"spec":{"group":"x.io","names":{"kind":"Thing","plural":"things"},"versions":[{"name":"v2","served":true,"storage":true}]}}`
	const stored = `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.x.io}
spec: {group: x.io, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true}]}
status: {storedVersions: [v1]}
`
	for _, c := range []struct {
		name    string
		text    string
		refused bool
		comes   bool
		message string
	}{
		{name: "CRDs first, wherever they are", text: planYAML(t, "", stepText{olm.KindClusterServiceVersion, "a.v1", "Unknown", thingsCSV}, stepText{olm.KindCRD, "things.x.io", "Unknown", thingsCRD}), comes: true},
		{name: "NotPresent is done", text: planYAML(t, "", stepText{olm.KindCRD, "things.x.io", "NotPresent", thingsCRD}, stepText{olm.KindClusterServiceVersion, "a.v1", "Unknown", thingsCSV}), comes: true},
		{name: "NotPresent and no manifest", text: planYAML(t, "", stepText{olm.KindCRD, "things.x.io", "NotPresent", "{"}, stepText{olm.KindClusterServiceVersion, "a.v1", "Unknown", thingsCSV}),
			message: "the manifest of the step cannot be read"},
		{name: "NotPresent and not to be upgraded", text: planYAML(t, "", stepText{olm.KindCRD, "things.x.io", "NotPresent", lesser}, stepText{olm.KindClusterServiceVersion, "a.v1", "Unknown", thingsCSV}) + stored,
			message: "version v1: has stored objects, but is missing from the new definition"},
		{name: "refused by the cluster", refused: true, text: planYAML(t, "", stepText{olm.KindCRD, "things.x.io", "NotPresent", thingsCRD}, stepText{olm.KindClusterServiceVersion, "a.v1", "Unknown", thingsCSV}),
			message: "CustomResourceDefinition things.x.io: is forbidden"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := &memcluster.Cluster{GlobalNamespace: "olm", Controllers: true}
			const group = "apiVersion: operators.coreos.com/v1\nkind: OperatorGroup\nmetadata: {name: global, namespace: ops}\nspec: {}\nstatus: {namespaces: [\"\"]}\n---\n"
			for _, o := range objects(t, []byte(group+c.text)) {
				if err := cluster.Put(&o); err != nil {
					t.Fatal(err)
				}
			}
			planned := false
			cluster.Intercept = func(change reconcile.Change, apply func() error) error {
				planned = planned || change.Object.Kind == olm.KindClusterServiceVersion
				if c.refused && change.Object.Kind == olm.KindCRD {
					return errors.New("is forbidden")
				}
				return apply()
			}
			r, err := (&reconcile.Loop{Cluster: cluster}).Run(t.Context(), testNamespace)
			if (err != nil) != c.refused {
				t.Fatal(err)
			}
			ip := get[olm.InstallPlan](t, cluster, olm.KindInstallPlan, "ops/install-1")
			if planned != c.comes || !strings.Contains(ip.Status.Message, c.message) {
				t.Errorf("the CSV was planned: %v, want %v; the plan is %s: %q, want %q", planned, c.comes, ip.Status.Phase, ip.Status.Message, c.message)
			}
			if c.comes {
				if ip.Status.Phase != olm.PlanComplete {
					t.Errorf("the plan is %s: %s", ip.Status.Phase, ip.Status.Message)
				}
				return
			}
			noted(t, r.Plan, "install-1", "a.v1 is not created until CustomResourceDefinition things.x.io exists")
			// Applying all changes of the last plan does not create it either.
			for _, change := range r.Plan.Changes {
				if change.Object.Kind == olm.KindClusterServiceVersion {
					t.Errorf("planned: %s", &change)
				}
			}
		})
	}
}

const bundleCatalog = `
schema: olm.package
name: a
defaultChannel: stable
---
schema: olm.channel
package: a
name: stable
entries:
- {name: a.v1}
---
schema: olm.bundle
package: a
name: a.v1
image: example.com/a:1
properties:
- {type: olm.package, value: {packageName: a, version: 1.0.0}}
- {type: olm.gvk, value: {group: x.io, version: v1, kind: Thing}}
`

func bundleContent(t *testing.T) *reconcile.Catalogs {
	t.Helper()
	blobs, err := fbc.LoadReader(t.Context(), strings.NewReader(bundleCatalog), "a.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	c := &reconcile.Catalogs{StandIns: true}
	if err := c.Add(t.Context(), resolver.CatalogID{Name: "community", Namespace: "olm"}, blobs); err != nil {
		t.Fatal(err)
	}
	return c
}

// E2: steps of a plan of the running OLM refer to the unpacked bundle. The
// content resolves them, or the plan reports what is missing.
func TestBundleReferences(t *testing.T) {
	const ref = `{"kind":"ConfigMap","name":"1a2b","namespace":"olm","catalogSourceName":"community","catalogSourceNamespace":"olm","replaces":"a.v0","properties":"{\"properties\":[{\"type\":\"olm.package\",\"value\":{\"packageName\":\"a\",\"version\":\"1.0.0\"}}]}"}`
	text := planYAML(t, "", stepText{olm.KindClusterServiceVersion, "a.v1", "Unknown", ref}, stepText{olm.KindCRD, "things.x.io", "Unknown", ref})
	c, _ := settle(t, bundleContent(t), text)
	csv := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v1")
	if csv.Spec.Replaces != "a.v0" || csv.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("a.v1 replaces %q and is %s: %s", csv.Spec.Replaces, csv.Status.Phase, csv.Status.Message)
	}
	if ip := get[olm.InstallPlan](t, c, olm.KindInstallPlan, "ops/install-1"); ip.Status.Phase != olm.PlanComplete || ip.Status.Plan[0].Resource.Manifest != ref {
		t.Errorf("the plan is %s: %s, with manifest %s", ip.Status.Phase, ip.Status.Message, ip.Status.Plan[0].Resource.Manifest)
	}

	for _, tt := range []struct {
		name    string
		content reconcile.Content
		step    stepText
		want    string
	}{
		{"no content", nil, stepText{olm.KindCRD, "things.x.io", "Unknown", ref}, `CustomResourceDefinition things.x.io is in the unpacked bundle "a.v1" (ConfigMap olm/1a2b), which cannot be read: catalog community/olm: its content is not available`},
		{"no such object", bundleContent(t), stepText{"ServiceAccount", "runner", "Unknown", ref}, `ServiceAccount runner: bundle "a.v1": the bundle has no such object`},
	} {
		c, plan := settle(t, tt.content, planYAML(t, "", tt.step))
		ip := get[olm.InstallPlan](t, c, olm.KindInstallPlan, "ops/install-1")
		if want := "waits: " + tt.want; ip.Status.Phase != olm.PlanInstalling || ip.Status.Message != want {
			t.Errorf("%s: the plan is %s: %q, want %q", tt.name, ip.Status.Phase, ip.Status.Message, want)
		}
		noted(t, plan, "install-1", tt.want)
	}
}

// E2: a plan whose bundles are not unpacked gets its steps from the content, or
// reports why it waits. So does an empty one.
func TestBundleLookups(t *testing.T) {
	lookup := func(catalog, condition string) string {
		return `, bundleLookups: [{path: example.com/a:1, identifier: a.v1, replaces: a.v0, catalogSourceRef: {name: ` + catalog + `, namespace: olm}, conditions: [` + condition + `]}]`
	}
	const pending = `{type: BundleLookupPending, status: "True", reason: JobIncomplete, message: unpack job not completed}`
	const failed = `{type: BundleLookupFailed, status: "True", reason: DeadlineExceeded, message: Job was active longer than specified deadline}`

	c, _ := settle(t, bundleContent(t), planYAML(t, lookup("community", pending)))
	if csv := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v1"); csv.Spec.Replaces != "a.v0" || csv.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("a.v1 replaces %q and is %s: %s", csv.Spec.Replaces, csv.Status.Phase, csv.Status.Message)
	}
	unapproved := strings.Replace(planYAML(t, lookup("community", pending)), "approved: true", "approved: false", 1)
	c, _ = settle(t, bundleContent(t), unapproved)
	if ip := get[olm.InstallPlan](t, c, olm.KindInstallPlan, "ops/install-1"); ip.Status.Phase != olm.PlanRequiresApproval || len(ip.Status.Plan) != 2 {
		t.Errorf("the unapproved plan is %s with %d steps", ip.Status.Phase, len(ip.Status.Plan))
	}

	for _, tt := range []struct{ name, text, want string }{
		{"pending", planYAML(t, lookup("other", pending)), `waits: bundle "a.v1" is not unpacked (BundleLookupPending, JobIncomplete: unpack job not completed), and cannot be read otherwise: catalog other/olm: its content is not available`},
		{"failed", planYAML(t, lookup("other", failed)), `waits: bundle "a.v1" is not unpacked (BundleLookupFailed, DeadlineExceeded: Job was active longer than specified deadline), and cannot be read otherwise: catalog other/olm: its content is not available`},
		{"no such bundle", strings.ReplaceAll(planYAML(t, lookup("community", "")), "a.v1", "b.v1"), `waits: bundle "b.v1" is not unpacked, and cannot be read otherwise: catalog community/olm has no bundle "b.v1"`},
		{"empty", planYAML(t, ""), ""},
	} {
		c, plan := settle(t, bundleContent(t), tt.text)
		ip := get[olm.InstallPlan](t, c, olm.KindInstallPlan, "ops/install-1")
		if ip.Status.Message != tt.want {
			t.Errorf("%s: the plan has message %q, want %q", tt.name, ip.Status.Message, tt.want)
		}
		if tt.want == "" {
			tt.want = "has neither steps nor bundles to unpack, and will not get any; delete it"
		}
		noted(t, plan, "install-1", tt.want)
	}
}
