package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// twoOperators is a cluster with two operators whose deployments have the names
// given.
func twoOperators(a, b string) string {
	const csv = `
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: %s, namespace: ops}
spec:
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: [{name: %s, spec: {replicas: %d, selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: "example.com/x:1"}]}}}}]}}
`
	return fmt.Sprintf(csv, "a.v1", a, 1) + fmt.Sprintf(csv, "b.v1", b, 2)
}

// Two operators whose deployments have the same name do not overwrite each other forever:
// the second fails and names the first, and is installed when that is gone.
func TestTwoDeploymentsOfOneName(t *testing.T) {
	c, _ := settle(t, nil, twoOperators("manager", "manager"))
	first := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v1")
	second := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/b.v1")
	if first.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("a.v1 is %s: %s", first.Status.Phase, first.Status.Message)
	}
	if want := `a.v1 has a deployment "manager", too`; second.Status.Phase != olm.PhaseFailed || second.Status.Reason != reason.OwnerConflict || second.Status.Message != want {
		t.Errorf("b.v1 is %s, %s: %q, want %q", second.Status.Phase, second.Status.Reason, second.Status.Message, want)
	}
	// The CSV that has the deployment keeps it in any phase.
	broken := *first
	broken.Status.Phase, broken.Status.Reason = olm.PhaseFailed, reason.InstallCheckFailed
	if err := c.Put(&broken); err != nil {
		t.Fatal(err)
	}
	l := &reconcile.Loop{Cluster: c, MaxPasses: 200}
	if _, err := l.Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if again := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v1"); again.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("a.v1 is %s: %s", again.Status.Phase, again.Status.Message)
	}
	if err := c.Remove(first.Key()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if second = get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/b.v1"); second.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("with a.v1 gone b.v1 is %s: %s", second.Status.Phase, second.Status.Message)
	}
	d := get[olm.Deployment](t, c, "Deployment", "ops/manager")
	if !strings.Contains(string(d.Spec), `"replicas":2`) {
		t.Errorf("the deployment is not that of b.v1: %s", d.Spec)
	}

	c, _ = settle(t, nil, twoOperators("manager", "other"))
	for _, name := range []string{"ops/a.v1", "ops/b.v1"} {
		if csv := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, name); csv.Status.Phase != olm.PhaseSucceeded {
			t.Errorf("%s is %s: %s", name, csv.Status.Phase, csv.Status.Message)
		}
	}
}

// A fault in the configuration of a subscription is reported once, always in the same words.
func TestWrongConfig(t *testing.T) {
	const want = `deployment "example": subscription config: env: `
	texts := map[string]bool{}
	for range 20 {
		w := worldOf(t, "drift")
		sub := subscription(t, w, "example")
		sub.Spec.Config = fromYAML[olm.SubscriptionConfig](t, `{env: [1], envFrom: [2], volumeMounts: [3]}`)
		w.put(t, sub)
		if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
			t.Fatal(err)
		}
		csv := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/example.v0.1.1")
		texts[csv.Status.Message] = true
		if !strings.HasPrefix(csv.Status.Message, want) {
			t.Fatalf("%s: %q, want %q…", csv.Status.Phase, csv.Status.Message, want)
		}
	}
	if len(texts) != 1 {
		t.Errorf("%d texts for one fault", len(texts))
	}
}

// H7, H2: an unreadable part of an installed operator does not block the namespace. A note
// reports the fault.
func TestUnreadableInstalled(t *testing.T) {
	for _, c := range []struct{ name, metadata, version, note string }{
		{"H7: projected properties", `annotations: {operatorframework.io/properties: "{\"properties\": 1}"}`, "1.0.0", "annotation operatorframework.io/properties: "},
		{"H2: version", `labels: {}`, "one", `spec.version "one" is not a version and counts as 0.0.0 in upgrades and requirements; correct it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := worldOf(t, "drift")
			w.existing(t, fmt.Sprintf(`{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: odd.v1, namespace: ops, %s}, spec: {version: %q, install: {strategy: deployment}, installModes: [{type: AllNamespaces, supported: true}]}}`, c.metadata, c.version))
			r, err := w.loop().Run(t.Context(), testNamespace)
			if err != nil {
				t.Fatal(err)
			}
			if sub := subscription(t, w, "example"); sub.Status.State != olm.StateAtLatestKnown {
				t.Errorf("the subscription is %s: %+v", sub.Status.State, sub.Status.Conditions)
			}
			noted(t, r.Plan, "odd.v1", c.note)
		})
	}
}

// D14: without any content a catalog is only unhealthy.
func TestNoContent(t *testing.T) {
	w := worldOf(t, "drift")
	s, err := w.Read(t.Context(), testNamespace)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := reconcile.Decide(t.Context(), s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(plan.Changes, func(c reconcile.Change) bool { return c.Object.Kind == olm.KindSubscription })
	if i < 0 || !strings.Contains(plan.Changes[i].Object.Rest.String(), "catalog community/olm: its content is not available") {
		t.Errorf("no subscription reports it: %v", plan.Changes)
	}
}

// E3, H14: a dependency gets a subscription with a valid and unique name, whatever the name
// of its channel.
func TestDependencyChannelNames(t *testing.T) {
	const dependency = "etcd"
	names := map[string]bool{}
	for _, channel := range []string{"stable", "Beta/1_x", "beta-1-x", "Beta/1 x", "ß", strings.Repeat("long", 80), "a..b"} {
		w := worldOf(t, "install-with-dependencies")
		const file = "catalog/olm/community.yaml"
		text := strings.Replace(string(w.files[file]), "defaultChannel: stable", fmt.Sprintf("defaultChannel: %q", channel), 1)
		w.files[file] = []byte(strings.Replace(text, "name: stable", fmt.Sprintf("name: %q", channel), 1))
		w.catalog(t, "olm/community", file)
		if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
			t.Errorf("%q: %v", channel, err)
			continue
		}
		found := ""
		for _, o := range w.List() {
			if o.Kind != olm.KindSubscription {
				continue
			}
			if s, err := olm.As[olm.Subscription](o); err == nil && s.Spec.Package == dependency {
				found = s.Metadata.Name
				if s.Spec.Channel != channel || s.Status.State != olm.StateAtLatestKnown {
					t.Errorf("%q: the subscription is for channel %q, and %s", channel, s.Spec.Channel, s.Status.State)
				}
			}
		}
		if found == "" || names[found] {
			t.Errorf("%q: the subscription is named %q", channel, found)
		}
		if channel == "stable" && found != dependency+"-stable-community-olm" {
			t.Errorf("%q: the subscription is named %q, and not as OLM names it", channel, found)
		}
		names[found] = true
	}
}
