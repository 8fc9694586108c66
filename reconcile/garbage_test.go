package reconcile_test

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// E2: of the install plans that resolutions made, the five newest are kept, and
// those that something refers to or that are to be executed still.
func TestOldPlans(t *testing.T) {
	w := worldOf(t, "drift")
	undisturbed(t, w)
	ref := subscription(t, w, "example").Status.InstallPlanRef.Name
	for i := range 9 {
		phase, label := "Complete", "{olm.managed: \"true\"}"
		switch i {
		case 2:
			label = "{}" // a person wrote it
		case 3:
			phase = "RequiresApproval" // superseded
		case 4:
			phase = "Failed"
		}
		w.existing(t, fmt.Sprintf(`{apiVersion: operators.coreos.com/v1alpha1, kind: InstallPlan, metadata: {name: old-%d, namespace: ops, labels: %s}, spec: {clusterServiceVersionNames: [x], approval: Manual, approved: false, generation: %d}, status: {phase: %s, plan: [{resolving: x, status: Unknown, resource: {group: "", version: v1, kind: ConfigMap, name: x, manifest: "{}"}}]}}`, i, label, 2+i, phase))
	}
	undisturbed(t, w)
	var got []string
	for _, o := range w.List() {
		if o.Kind == olm.KindInstallPlan {
			got = append(got, o.Metadata.Name)
		}
	}
	want := []string{ref, "old-2", "old-4", "old-5", "old-6", "old-7", "old-8"}
	slices.Sort(want)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
