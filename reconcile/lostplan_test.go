package reconcile_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	rules "github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

const configMap = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: b}}`

// E2, E40: the remedy that a failed install plan names works, even if the operator's CSV already
// exists when the plan fails or is deleted at that moment. Until then, the CSV is Pending, and
// the other steps are done.
func TestFailedPlanAfterCSV(t *testing.T) {
	for _, kind := range []string{"ServiceAccount", "ConfigMap", "Role", "ClusterRoleBinding"} {
		t.Run(kind, func(t *testing.T) {
			w := worldOf(t, "drift")
			w.bundled(t, configMap)
			now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			w.Now = func() time.Time { return now }
			refuse := true
			w.Intercept = func(c reconcile.Change, apply func() error) error {
				if refuse && c.Object.Kind == kind && c.For.Kind == olm.KindInstallPlan {
					return errors.New("is forbidden")
				}
				return apply()
			}
			run := func() *reconcile.Plan {
				t.Helper()
				r, err := w.loop().Run(t.Context(), testNamespace)
				if err != nil && (!refuse || errors.Is(err, reconcile.ErrUnsettled)) {
					t.Fatal(err)
				}
				return r.Plan
			}
			pending := func(want string) {
				t.Helper()
				st := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1").Status
				if st.Phase != olm.PhasePending || kind == "ConfigMap" && !strings.Contains(st.Message, want) {
					t.Fatalf("the CSV is %s: %s, want %q", st.Phase, st.Message, want)
				}
				for _, c := range st.Conditions {
					if c.Phase != olm.PhasePending {
						t.Fatalf("the CSV was %s", c.Phase)
					}
				}
			}
			run()
			pending(` is not done: retrying execution due to error: ConfigMap ops/settings: is forbidden`)
			for range 2 { // the new plan fails, too
				now = now.Add(2 * time.Minute)
				plan := run()
				ref := subscription(t, w, "example").Status.InstallPlanRef
				ip := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+ref.Name)
				if ip.Status.Phase != olm.PlanFailed {
					t.Fatalf("the plan is %s: %s", ip.Status.Phase, ip.Status.Message)
				}
				for _, s := range ip.Status.Plan {
					if done := s.Status == olm.StepCreated || s.Status == olm.StepPresent; done != (s.Resource.Kind != kind) {
						t.Errorf("the step for %s %s is %s", s.Resource.Kind, s.Resource.Name, s.Status)
					}
				}
				noted(t, plan, ref.Name, "delete install plan ")
				pending(`to try again, fix the cause and delete install plan "` + ref.Name + `"`)
				if err := w.Remove(key(olm.KindInstallPlan, "ops/"+ref.Name)); err != nil {
					t.Fatal(err)
				}
				run()
				pending("retrying")
			}
			refuse = false
			run()
			if _, err := w.Get(olm.Key{Kind: "ConfigMap", Namespace: "ops", Name: "settings"}); err != nil {
				t.Error(err)
			}
			if _, err := w.Get(olm.Key{Kind: "ServiceAccount", Namespace: "ops", Name: "runner"}); err != nil {
				t.Error(err)
			}
			atRest(t, w.Cluster)
		})
	}
}

// E40: the CSV of a failed install plan continues once a person has created the object that the
// plan did not create.
func TestFailedPlanCompletedByHand(t *testing.T) {
	for _, kind := range []string{"ServiceAccount", "ConfigMap", "Role", "ClusterRoleBinding"} {
		t.Run(kind, func(t *testing.T) {
			w := worldOf(t, "drift")
			w.bundled(t, configMap)
			now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
			w.Now = func() time.Time { return now }
			var missing olm.Object
			w.Intercept = func(c reconcile.Change, apply func() error) error {
				if c.Object.Kind == kind && c.For.Kind == olm.KindInstallPlan {
					missing = c.Object
					return errors.New("is forbidden")
				}
				return apply()
			}
			phase := func() olm.Phase {
				t.Helper()
				if _, err := w.loop().Run(t.Context(), testNamespace); errors.Is(err, reconcile.ErrUnsettled) {
					t.Fatal(err)
				}
				return get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1").Status.Phase
			}
			phase()
			now = now.Add(2 * time.Minute)
			if got := phase(); got != olm.PhasePending {
				t.Fatalf("the CSV is %s although %s does not exist", got, missing.Key())
			}
			w.put(t, &missing)
			if got := phase(); got != olm.PhaseSucceeded {
				c := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1")
				t.Errorf("the CSV is %s: %s", got, c.Status.Message)
			}
			ref := subscription(t, w, "example").Status.InstallPlanRef
			if ip := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+ref.Name); ip.Status.Phase != olm.PlanFailed {
				t.Errorf("the plan is %s", ip.Status.Phase)
			}
		})
	}
}

// atRest fails unless every operator succeeded and every subscription's plan exists.
func atRest(t *testing.T, c *memcluster.Cluster) {
	t.Helper()
	for _, o := range c.List() {
		switch o.Kind {
		case olm.KindSubscription:
			s, err := olm.As[olm.Subscription](o)
			if err != nil {
				t.Fatal(err)
			}
			if s.Status.State != olm.StateAtLatestKnown {
				t.Errorf("%s is %s", s.Key(), s.Status.State)
			}
			for _, x := range s.Status.Conditions {
				if strings.HasPrefix(x.Type, "InstallPlan") && x.Status == olm.ConditionTrue {
					t.Errorf("%s: %s, %s: %s", s.Key(), x.Type, x.Reason, x.Message)
				}
			}
		case olm.KindClusterServiceVersion:
			v, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				t.Fatal(err)
			}
			if v.Status.Phase != olm.PhaseSucceeded {
				t.Errorf("%s is %s: %s", v.Key(), v.Status.Phase, v.Status.Message)
			}
		}
	}
}

// whatever returns the final state of a cluster without the plans' names.
func whatever(t *testing.T, c *memcluster.Cluster) string {
	t.Helper()
	var out strings.Builder
	for _, o := range c.List() {
		if o.Kind == olm.KindInstallPlan || o.Kind == olm.KindOperator {
			continue // Operators list install plans
		}
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		if status, ok := v["status"].(map[string]any); ok && (o.Kind == olm.KindClusterServiceVersion || o.Kind == olm.KindSubscription) {
			delete(status, "conditions")
			delete(status, "installPlanRef")
			delete(status, "installplan")
			delete(status, "installPlanGeneration")
		}
		if m, ok := v["metadata"].(map[string]any)["annotations"].(map[string]any); ok {
			delete(m, rules.AnnotationGeneratedBy)
		}
		strip(v)
		if text, err = json.MarshalIndent(v, "", " "); err != nil {
			t.Fatal(err)
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	return out.String()
}

// E2, E3: if an install plan is deleted after any write, nothing is lost: everything that it
// was to install is installed, with its subscriptions. The same holds for a second deletion.
func TestPlanDeletedAfterEveryWrite(t *testing.T) {
	n := tallied(t, "plans deleted", "plans deleted when the CSV was there")
	for _, scenario := range []string{"drift", "install-with-dependencies", "version-deadlock", "upgrade-walk", "skip-range"} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			fresh := func() *world {
				w := worldOf(t, scenario)
				w.bundled(t, configMap)
				return w
			}
			w := fresh()
			writes := 0
			w.Intercept = func(_ reconcile.Change, apply func() error) error { writes++; return apply() }
			undisturbed(t, w)
			w.Intercept = nil
			want := whatever(t, w.Cluster)
			for _, gap := range []int{0, 7} {
				for k := 1; k <= writes; k++ {
					if gap > 0 && k%3 != 2 && testsize.Of(true, true, false) {
						continue
					}
					w := fresh()
					i := 0
					w.Intercept = func(_ reconcile.Change, apply func() error) error {
						err := apply()
						if i++; err != nil || i != k && (gap == 0 || i != k+gap) {
							return err
						}
						for _, o := range w.List() {
							if o.Kind == olm.KindInstallPlan {
								n[0].Add(1)
								if _, err := w.Get(key(olm.KindClusterServiceVersion, "ops/example.v0.1.1")); err == nil {
									n[1].Add(1)
								}
								if err := w.Remove(o.Key()); err != nil {
									t.Error(err)
								}
							}
						}
						return nil
					}
					l := w.loop()
					if _, err := l.Run(t.Context(), testNamespace); err != nil {
						t.Fatalf("deleted after %d writes: %v", k, err)
					}
					if diff := gocmp.Diff(want, whatever(t, w.Cluster)); diff != "" {
						t.Fatalf("deleted after %d writes, and %d later (-undisturbed +deleted):\n%s", k, gap, diff)
					}
				}
			}
		})
	}
}

// A requirement of an installed operator that goes missing is installed with a plan that no
// subscription requires.
func TestPlanForDependenciesAlone(t *testing.T) {
	a, err := txtar.ParseFile("testdata/scenario/install-with-dependencies.txtar")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, a)
	undisturbed(t, w)
	want := whatever(t, w.Cluster)
	for _, k := range []olm.Key{key(olm.KindSubscription, "ops/etcd-stable-community-olm"), key(olm.KindClusterServiceVersion, "ops/etcd.v1.0.0")} {
		if err := w.Remove(k); err != nil {
			t.Fatal(err)
		}
	}
	undisturbed(t, w)
	if diff := gocmp.Diff(want, whatever(t, w.Cluster)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	atRest(t, w.Cluster)
}

// E2, E9: the remaining steps of a lost install plan are done even while the namespace
// cannot be resolved, which the subscriptions report.
func TestLostPlanWithoutSolution(t *testing.T) {
	const impossible = `{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: impossible, namespace: ops}, spec: {name: nobody-has-it, source: community, sourceNamespace: olm}}`
	const sick = `{apiVersion: operators.coreos.com/v1alpha1, kind: CatalogSource, metadata: {name: NAME, namespace: olm}, status: {connectionState: {lastObservedState: TRANSIENT_FAILURE}}}`
	for _, tt := range []struct{ name, put, reason, wait string }{
		{"a subscription that nothing satisfies", impossible, "ConstraintsNotSatisfiable", ""},
		{"another catalog is unhealthy", strings.Replace(sick, "NAME", "another", 1), "ErrorPreventedResolution", ""},
		{"its catalog is unhealthy", strings.Replace(sick, "NAME", "community", 1), "ErrorPreventedResolution", "no healthy catalog has the bundle: community/olm may have it, once healthy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := worldOf(t, "drift")
			w.bundled(t, configMap)
			w.refused["ServiceAccount runner"] = true
			if _, err := w.loop().Run(t.Context(), testNamespace); !errors.Is(err, errRefused) {
				t.Fatal(err)
			}
			lost := subscription(t, w, "example").Status.InstallPlanRef.Name
			if err := w.Remove(key(olm.KindInstallPlan, "ops/"+lost)); err != nil {
				t.Fatal(err)
			}
			w.refused["ServiceAccount runner"] = false
			w.put(t, resources(objects(t, []byte(tt.put)))...)
			run := func() *reconcile.Plan {
				t.Helper()
				r, err := w.loop().Run(t.Context(), testNamespace)
				if err != nil {
					t.Fatal(err)
				}
				return r.Plan
			}
			plan := run()
			s := subscription(t, w, "example")
			if c, _ := olm.FindCondition(s.Status.Conditions, "ResolutionFailed"); c.Reason != tt.reason {
				t.Errorf("ResolutionFailed is %q, want %q", c.Reason, tt.reason)
			}
			if tt.wait != "" {
				noted(t, plan, "example.v0.1.1", tt.wait)
				w.put(t, resources(objects(t, []byte(strings.NewReplacer("TRANSIENT_FAILURE", "READY").Replace(tt.put))))...)
				run()
			}
			c := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1")
			if c.Status.Phase != olm.PhaseSucceeded {
				t.Errorf("the operator is %s: %s", c.Status.Phase, c.Status.Message)
			}
			for _, k := range []olm.Key{{Kind: "ConfigMap", Namespace: "ops", Name: "settings"}, {Kind: "ServiceAccount", Namespace: "ops", Name: "runner"}} {
				if _, err := w.Get(k); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// E2: OLM was stopped after it made an install plan, before the subscription referred to the
// plan, or before the plan had steps. olmkit continues with this plan, and makes no other.
func TestPlanOfStoppedOLM(t *testing.T) {
	for _, steps := range []bool{true, false} {
		w := worldOf(t, "drift")
		run := func() {
			t.Helper()
			if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
				t.Fatal(err)
			}
		}
		put := func(r olm.Resource) {
			t.Helper()
			if err := w.Put(r); err != nil {
				t.Fatal(err)
			}
		}
		s := subscription(t, w, "example")
		s.Spec.InstallPlanApproval = olm.Manual
		put(s)
		run()
		s = subscription(t, w, "example")
		ip := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+s.Status.InstallPlanRef.Name)
		if err := w.Remove(ip.Key()); err != nil {
			t.Fatal(err)
		}
		ip.Metadata = olm.Metadata{Name: "install-abcde", Namespace: "ops", OwnerReferences: ip.Metadata.OwnerReferences}
		if !steps {
			ip.Status = olm.InstallPlanStatus{}
		}
		put(ip)
		s.Status = olm.SubscriptionStatus{}
		put(s)
		run()
		plans := 0
		for _, o := range w.List() {
			if o.Kind == olm.KindInstallPlan {
				plans++
			}
		}
		if ref := subscription(t, w, "example").Status.InstallPlanRef; plans != 1 || ref == nil || ref.Name != "install-abcde" {
			t.Errorf("with steps %v: there are %d plans, and the subscription refers to %v", steps, plans, ref)
		}
		ip = get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/install-abcde")
		if ip.Status.Phase != olm.PlanRequiresApproval || len(ip.Status.Plan) == 0 {
			t.Errorf("with steps %v: the plan is %s and has %d steps", steps, ip.Status.Phase, len(ip.Status.Plan))
		}
		ip.Spec.Approved = true
		put(ip)
		run()
		atRest(t, w.Cluster)
	}
}
