package reconcile_test

import (
	"testing"
	"time"

	"github.com/olmkit/olmkit/olm"
)

// E2, E3: a plan states when it will change without any write, so a loop knows when to run
// again. It changes at that time, and not before.
func TestDue(t *testing.T) {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	t.Run("an install plan with a refused step", func(t *testing.T) {
		w := worldOf(t, "drift")
		now := start
		w.Now = func() time.Time { return now }
		w.refused["ServiceAccount runner"] = true
		phase := func() (olm.PlanPhase, time.Time) {
			t.Helper()
			r, _ := w.loop().Run(t.Context(), testNamespace)
			return get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+subscription(t, w, "example").Status.InstallPlanRef.Name).Status.Phase, r.Plan.Due
		}
		is, due := phase()
		if want := start.Add(time.Minute); is != olm.PlanInstalling || !due.Equal(want) {
			t.Fatalf("the plan is %s and due at %s, want %s", is, due, want)
		}
		now = due.Add(-time.Second)
		if is, _ := phase(); is != olm.PlanInstalling {
			t.Errorf("before it is due the plan is %s", is)
		}
		now = due
		if is, due := phase(); is != olm.PlanFailed || !due.IsZero() {
			t.Errorf("when it is due the plan is %s, and due again at %s", is, due)
		}
	})
	t.Run("a deployment that does not come up", func(t *testing.T) {
		w := worldOf(t, "drift")
		now := start
		w.Now = func() time.Time { return now }
		w.unavailable["example"] = true
		phase := func() (olm.Phase, time.Time) {
			t.Helper()
			r, err := w.loop().Run(t.Context(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			return get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1").Status.Phase, r.Plan.Due
		}
		is, due := phase()
		if want := start.Add(5 * time.Minute); is != olm.PhaseInstalling || !due.Equal(want) {
			t.Fatalf("the operator is %s and due at %s, want %s", is, due, want)
		}
		now = due.Add(-time.Second)
		if is, _ := phase(); is != olm.PhaseInstalling {
			t.Errorf("before it is due the operator is %s", is)
		}
		now = due
		if is, due := phase(); is != olm.PhaseFailed || !due.IsZero() {
			t.Errorf("when it is due the operator is %s, and due again at %s", is, due)
		}
	})
}
