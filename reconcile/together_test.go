package reconcile_test

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// E1, E36, F4: an installation writes the statuses of the subscription and of the CSV once for
// each thing that others do or wait for. The conditions of the CSV have all phases of OLM.
func TestStatusesAreWrittenTogether(t *testing.T) {
	w := worldOf(t, "install-times-out")
	l := w.loop()
	var writes []string
	l.Progress = func(_ int, c reconcile.Change, err error) {
		if err != nil {
			t.Errorf("%s: %v", &c, err)
		}
		switch o := c.Object; o.Kind {
		case olm.KindSubscription:
			s, err := olm.As[olm.Subscription](o)
			if err != nil {
				t.Fatal(err)
			}
			if c.Op == reconcile.UpdateStatus {
				writes = append(writes, fmt.Sprintf("Subscription: %s, %q", s.Status.State, s.Status.InstalledCSV))
			}
		case olm.KindClusterServiceVersion:
			v, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				t.Fatal(err)
			}
			writes = append(writes, fmt.Sprintf("%s CSV: %s", c.Op, v.Status.Phase))
			if c.Op == reconcile.Create && v.Metadata.Annotations["olm.targetNamespaces"] != "ops" {
				t.Errorf("the new CSV has the annotations %v", v.Metadata.Annotations)
			}
		}
	}
	if _, err := l.Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`Subscription: UpgradePending, ""`, `create CSV: `, `update status CSV: InstallReady`,
		`Subscription: AtLatestKnown, "example.v0.1.1"`, `update status CSV: Succeeded`,
	}
	if diff := gocmp.Diff(want, writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	var phases []string
	for _, c := range get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, testNamespace+"/example.v0.1.1").Status.Conditions {
		phases = append(phases, fmt.Sprintf("%s, %s", c.Phase, c.Reason))
	}
	if !slices.Equal(phases, []string{"Pending, RequirementsUnknown", "InstallReady, AllRequirementsMet", "Installing, InstallSucceeded", "Succeeded, InstallSucceeded"}) {
		t.Errorf("the conditions of the CSV are %q", phases)
	}
}
