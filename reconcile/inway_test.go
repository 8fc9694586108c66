package reconcile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// bundled adds an object to every bundle of a world.
func (w *world) bundled(t *testing.T, text string) {
	t.Helper()
	o := fromYAML[olm.Object](t, text)
	for name := range w.manifests {
		w.manifests[name] = append(w.manifests[name], *o)
	}
}

// existing adds an object to a world.
func (w *world) existing(t *testing.T, text string) {
	t.Helper()
	w.put(t, fromYAML[olm.Object](t, text))
}

// E3: a step whose object exists is done, and a kind in another group is
// not mistaken for OLM's. The operator is installed.
func TestStepExists(t *testing.T) {
	for _, c := range []struct{ name, existing, bundled, change string }{
		{name: "a Subscription of Knative",
			existing: `{apiVersion: messaging.knative.dev/v1, kind: Subscription, metadata: {name: s, namespace: ops}, spec: {channel: a}}`,
			bundled:  `{apiVersion: messaging.knative.dev/v1, kind: Subscription, metadata: {name: s}, spec: {channel: b}}`,
			change:   "update Subscription ops/s: step of the install plan for example.v0.1.1"},
		{name: "a Subscription of Knative that is new",
			existing: `{apiVersion: v1, kind: Namespace, metadata: {name: other}}`,
			bundled:  `{apiVersion: messaging.knative.dev/v1, kind: Subscription, metadata: {name: s}, spec: {channel: b}}`,
			change:   "create Subscription ops/s: step of the install plan for example.v0.1.1"},
		{name: "a definition of another group",
			existing: `{apiVersion: x.io/v1, kind: CustomResourceDefinition, metadata: {name: s, namespace: ops}, spec: {channel: a}}`,
			bundled:  `{apiVersion: x.io/v1, kind: CustomResourceDefinition, metadata: {name: s}, spec: {channel: b}}`,
			change:   "update CustomResourceDefinition ops/s: step of the install plan for example.v0.1.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := worldOf(t, "drift")
			w.existing(t, c.existing)
			w.bundled(t, c.bundled)
			l := w.loop()
			var changes []string
			l.Progress = func(_ int, c reconcile.Change, _ error) { changes = append(changes, c.String()) }
			if r, err := l.Run(t.Context(), testNamespace); err != nil {
				t.Fatalf("%v, after %d conflicts", err, r.Conflicts)
			}
			if sub := subscription(t, w, "example"); sub.Status.State != olm.StateAtLatestKnown {
				t.Errorf("the subscription is %s: %+v", sub.Status.State, sub.Status.Conditions)
			}
			n := 0
			for _, x := range changes {
				if x == c.change {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%d changes %q, want 1, among\n%s", n, c.change, strings.Join(changes, "\n"))
			}
		})
	}
}

// F6, F8: the copy of an operator that serves the namespace is not replaced by a second
// operator with that name. The plan reports this, and the namespace settles. Once the copy
// is gone, the operator is installed.
func TestCopyInTheWay(t *testing.T) {
	const group = `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: all, namespace: glob}, spec: {}, status: {namespaces: [""]}}`
	const original = `{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: example.v0.1.1, namespace: glob}, spec: {version: 0.1.1}, status: {phase: Succeeded}}`
	for _, c := range []struct {
		name, want string
		original   bool
	}{
		{"of an operator", "ClusterServiceVersion ops/example.v0.1.1 is in the way: it is a copy of the operator in namespace glob, which already serves this namespace; delete the subscription, or remove this namespace from the targets of that operator's group", true},
		{"of nobody", "ClusterServiceVersion ops/example.v0.1.1 is in the way: it is a copy of an operator in namespace glob that no longer exists; delete it unless it is already being removed", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := worldOf(t, "drift")
			w.existing(t, `{apiVersion: v1, kind: Namespace, metadata: {name: glob}}`)
			if c.original {
				w.existing(t, group)
				w.existing(t, original)
			}
			w.existing(t, `{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: example.v0.1.1, namespace: ops, labels: {olm.copiedFrom: glob}}, spec: {version: 0.1.1}, status: {phase: Succeeded, reason: Copied}}`)
			r, err := w.loop().Run(t.Context(), testNamespace)
			if err != nil || r.Conflicts > 0 {
				t.Fatalf("%v, %d conflicts", err, r.Conflicts)
			}
			ref := subscription(t, w, "example").Status.InstallPlanRef
			ip := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+ref.Name)
			if !strings.Contains(ip.Status.Message, c.want) {
				t.Errorf("the plan has message %q, want %q", ip.Status.Message, c.want)
			}
			csv := key(olm.KindClusterServiceVersion, "ops/example.v0.1.1")
			if err := w.Remove(csv); err != nil {
				t.Fatal(err)
			}
			if c.original {
				if err := w.Remove(key(olm.KindClusterServiceVersion, "glob/example.v0.1.1")); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
				t.Fatal(err)
			}
			if csv := get[olm.ClusterServiceVersion](t, w.Cluster, csv.Kind, "ops/"+csv.Name); csv.Status.Phase != olm.PhaseSucceeded {
				t.Errorf("with the copy gone the operator is %s: %s", csv.Status.Phase, csv.Status.Message)
			}
		})
	}
}

// E2: an object that exists but is not in the snapshot does not cause endless retries, and
// nothing else waits for it.
func TestUnseenObject(t *testing.T) {
	w := worldOf(t, "drift")
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if c.Op == reconcile.Create && (c.Object.Kind == "ServiceAccount" || c.Key().Name == "global-admin") {
			return fmt.Errorf("%s exists: %w", c.Key(), reconcile.ErrConflict)
		}
		return apply()
	}
	r, err := w.loop().Run(t.Context(), testNamespace)
	if err == nil || errors.Is(err, reconcile.ErrUnsettled) || r.Passes > 30 {
		t.Errorf("after %d passes: %v", r.Passes, err)
	}
	const want = "create ServiceAccount ops/runner: it exists, although reading the cluster did not return it"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want one that contains %q", err, want)
	}
	ref := subscription(t, w, "example").Status.InstallPlanRef
	if ref == nil {
		t.Fatal("no install plan: all waited for the role")
	}
	ip := get[olm.InstallPlan](t, w.Cluster, olm.KindInstallPlan, "ops/"+ref.Name)
	if !strings.Contains(ip.Status.Message, "ServiceAccount ops/runner: it exists, although reading the cluster did not return it") {
		t.Errorf("the plan says %q", ip.Status.Message)
	}
}

// A refusal with a different text each time ends the run like any other, and so does one
// that no status reports. In either case the last refusal is reported.
func TestChangingRefusals(t *testing.T) {
	for _, kind := range []string{"ServiceAccount", "ClusterRole"} {
		w := worldOf(t, "drift")
		n := 0
		w.Intercept = func(c reconcile.Change, apply func() error) error {
			if c.Object.Kind == kind {
				n++
				return fmt.Errorf("refused, request %d", n)
			}
			return apply()
		}
		l := w.loop()
		r, err := l.Run(t.Context(), testNamespace)
		if err == nil || errors.Is(err, reconcile.ErrUnsettled) || !strings.Contains(err.Error(), fmt.Sprintf("refused, request %d", n)) || r.Passes > 40 {
			t.Errorf("%s: after %d passes: %v", kind, r.Passes, err)
		}
	}
	w := worldOf(t, "drift")
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if c.Object.Kind == "ServiceAccount" {
			return errors.New("is forbidden")
		}
		err := apply()
		if c.Key().Name == "global-admin" && c.Op == reconcile.Create {
			if err := w.Remove(c.Key()); err != nil {
				t.Error(err)
			}
		}
		return err
	}
	l := w.loop()
	l.MaxPasses = 30
	if _, err := l.Run(t.Context(), testNamespace); !errors.Is(err, reconcile.ErrUnsettled) || !strings.Contains(err.Error(), "create ServiceAccount ops/runner: is forbidden") {
		t.Errorf("got error %v, want ErrUnsettled with what was refused", err)
	}
}
