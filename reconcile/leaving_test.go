package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// E2: an object that is being deleted does not count as the one that a step of an install
// plan creates. The plan waits until it is gone, reports this, and then creates it.
func TestStepsWaitForDeletions(t *testing.T) {
	for _, k := range []olm.Key{
		key(olm.KindCRD, "-/examples.example.com"), key("ServiceAccount", "ops/runner"), key(olm.KindClusterServiceVersion, "ops/example.v0.1.1"),
	} {
		t.Run(k.Kind, func(t *testing.T) {
			w := worldOf(t, "drift")
			old := w.Clone()
			undisturbed(t, w)
			o, err := w.Get(k) // as an earlier installation left it
			if err != nil {
				t.Fatal(err)
			}
			o.Metadata.Finalizers, o.Metadata.OwnerReferences, o.Metadata.UID = []string{"example.com/held"}, nil, ""
			w.Cluster = old
			w.put(t, &o)
			if err := w.Delete(k); err != nil {
				t.Fatal(err)
			}
			r, err := w.loop().Run(t.Context(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			told := false
			for _, n := range r.Plan.Notes {
				told = told || strings.Contains(n.String(), "finalizers are removed: example.com/held")
			}
			if !told {
				t.Errorf("no note reports that the plan waits for %s: %v", k, r.Plan.Notes)
			}
			if err := w.Remove(k); err != nil {
				t.Fatal(err)
			}
			undisturbed(t, w)
			if o, err := w.Get(k); err != nil || o.Metadata.IsDeleted() {
				t.Errorf("it was not made again: %v", err)
			}
			atRest(t, w.Cluster)
		})
	}
}

// F7: while the cluster refuses to restore a role of an operator, the rest of it is
// maintained, and the refusal is reported each time.
func TestRefusedRoleHoldsUpNothing(t *testing.T) {
	for _, phase := range []string{"Succeeded", "Failed"} {
		t.Run(phase, func(t *testing.T) {
			w := worldOf(t, "drift")
			undisturbed(t, w)
			w.existing(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: all}, rules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"]}]}`)
			w.existing(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: all}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: all}, subjects: [{kind: ServiceAccount, name: runner, namespace: ops}]}`)
			run := func(refused bool) {
				t.Helper()
				r, err := w.loop().Run(t.Context(), testNamespace)
				if (err != nil) != refused || len(r.Refused) > 0 != refused {
					t.Errorf("got error %v and refusals %v, want some: %v", err, r.Refused, refused)
				}
			}
			if phase == "Failed" {
				w.unavailable["example"] = true
				d := get[olm.Deployment](t, w.Cluster, "Deployment", "ops/example")
				w.put(t, d)
				run(false)
			}
			for _, o := range w.List() {
				if o.Kind == "Role" && strings.HasPrefix(o.Metadata.Name, "example.v0.1.1-runner") {
					w.refused["Role "+o.Metadata.Name] = true
					if err := w.Delete(o.Key()); err != nil {
						t.Fatal(err)
					}
				}
			}
			run(true)
			if c := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1"); string(c.Status.Phase) != phase {
				t.Fatalf("the operator is %s: %s", c.Status.Phase, c.Status.Message)
			}
			w.unavailable["example"] = false
			if err := w.Delete(key("Deployment", "ops/example")); err != nil {
				t.Fatal(err)
			}
			run(true)
			if _, err := w.Get(key("Deployment", "ops/example")); err != nil {
				t.Error(err)
			}
			clear(w.refused)
			run(false)
			atRest(t, w.Cluster)
		})
	}
}

// F7, F8: refused changes, for running an operator or not, never make an operator that
// is being installed alternate between phases.
func TestRefusedWhileInstalling(t *testing.T) {
	for _, tt := range []struct {
		name   string
		refuse func(o olm.Object) bool
		then   func(*testing.T, *world)
		phase  olm.Phase
	}{
		{"the deletion of what it has no use for", func(o olm.Object) bool { return o.Kind == "ClusterRoleBinding" }, func(t *testing.T, w *world) {
			g := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/global")
			g.Spec.TargetNamespaces = []string{testNamespace}
			w.put(t, g)
		}, olm.PhaseInstalling},
		{"a copy", func(o olm.Object) bool {
			return o.Kind == olm.KindClusterServiceVersion && o.Metadata.Namespace == "olm"
		}, func(t *testing.T, w *world) {
			if err := w.Delete(key(olm.KindClusterServiceVersion, "olm/example.v0.1.1")); err != nil {
				t.Fatal(err)
			}
		}, olm.PhaseInstalling},
		{"its service account", func(o olm.Object) bool { return o.Kind == "ServiceAccount" }, func(t *testing.T, w *world) {
			if err := w.Delete(key("ServiceAccount", "ops/runner")); err != nil {
				t.Fatal(err)
			}
		}, olm.PhaseInstallReady},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := worldOf(t, "drift")
			undisturbed(t, w)
			w.unavailable["example"] = true
			if err := w.Delete(key("Deployment", "ops/example")); err != nil {
				t.Fatal(err)
			}
			undisturbed(t, w) // recreated, and not available
			refused := map[olm.Key]bool{}
			for _, o := range w.List() {
				refused[o.Key()] = tt.refuse(o)
			}
			w.Intercept = func(c reconcile.Change, apply func() error) error {
				if refused[c.Key()] {
					return errRefused
				}
				return apply()
			}
			tt.then(t, w)
			r, err := w.loop().Run(t.Context(), testNamespace)
			if errors.Is(err, reconcile.ErrUnsettled) || len(r.Refused) == 0 {
				t.Errorf("got error %v, want what was refused", err)
			}
			c := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1")
			if c.Status.Phase != tt.phase {
				t.Errorf("the operator is %s: %s", c.Status.Phase, c.Status.Message)
			}
			again, _ := w.loop().Run(t.Context(), testNamespace)
			if again.Changes > 2 { // the status reports it, and then the retry
				t.Errorf("%d changes when it is run again", again.Changes)
			}
			w.Intercept, w.unavailable["example"] = nil, false
			w.put(t, get[olm.Deployment](t, w.Cluster, "Deployment", "ops/example"))
			undisturbed(t, w)
			atRest(t, w.Cluster)
		})
	}
}
