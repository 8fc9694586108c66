package reconcile_test

import (
	"testing"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// E2: why an install plan failed is reported wherever its status has it.
func TestFailedPlanCause(t *testing.T) {
	for _, c := range []struct{ name, status, want string }{
		{"message", `message: the API server refused it`, "failed, and is not tried again: the API server refused it; to try again, "},
		{"condition", `conditions: [{type: Installed, status: "False", reason: InstallComponentFailed, message: error creating csv a.v1}]`,
			"failed, and is not tried again: error creating csv a.v1; to try again, "},
		{"reason", `conditions: [{type: Installed, status: "False", reason: InstallComponentFailed}]`,
			"failed, and is not tried again: InstallComponentFailed; to try again, "},
		{"bundle", `bundleLookups: [{identifier: a.v1, path: example.com/a, conditions: [{type: BundleLookupFailed, status: "True", reason: DeadlineExceeded, message: the job took too long}]}]`,
			"failed, and is not tried again: bundle a.v1: the job took too long; to try again, "},
		{"nothing", `conditions: [{type: Installed, status: "True"}]`,
			"failed, and is not tried again: its status does not give the cause; to try again, "},
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
