package reconcile_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// csvYAML returns a CSV that owns one CRD, or none.
func csvYAML(name, replaces, phase string) string {
	return fmt.Sprintf(`
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: %s
  namespace: ops
  annotations: {olm.properties: '[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]'}
spec:
  replaces: %q
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
status: {phase: %q}
`, name, replaces, phase)
}

// If two CSVs replace the same one, only one of them does so. The other reports why it
// waits, even when the older one is gone.
func TestTwoSuccessors(t *testing.T) {
	text := strings.Join([]string{csvYAML("a.v1", "", "Succeeded"), csvYAML("a.v2", "a.v1", ""), csvYAML("a.v3", "a.v1", "")}, "---\n")
	c, plan := settle(t, nil, text)
	if _, err := c.Get(key(olm.KindClusterServiceVersion, "ops/a.v1")); err == nil {
		t.Error("a.v1 is still there")
	}
	if st := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v2").Status; st.Phase != olm.PhaseSucceeded {
		t.Errorf("a.v2 is %s: %s", st.Phase, st.Message)
	}
	st := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v3").Status
	if want := "a.v2 also replaces a.v1 and has priority; delete one of the two"; st.Phase != olm.PhasePending || st.Message != want {
		t.Errorf("a.v3 is %s: %q, want Pending: %q", st.Phase, st.Message, want)
	}
	noted(t, plan, "a.v3", "has priority")
}

// The successor whose installation is furthest takes precedence, then the one that a
// subscription refers to.
func TestSuccessorsOrder(t *testing.T) {
	for _, c := range []struct{ name, text, first string }{
		{"by version and name", "", "a.v2"},
		{"wanted", `---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: a, namespace: ops}
spec: {name: a, source: s, sourceNamespace: olm}
status: {currentCSV: a.v3}
`, "a.v3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Join([]string{csvYAML("a.v1", "", "Succeeded"), csvYAML("a.v2", "a.v1", ""), csvYAML("a.v3", "a.v1", "")}, "---\n")
			cluster, _ := settle(t, nil, text+c.text)
			for _, name := range []string{"a.v2", "a.v3"} {
				st := get[olm.ClusterServiceVersion](t, cluster, olm.KindClusterServiceVersion, "ops/"+name).Status
				if (st.Phase == olm.PhaseSucceeded) != (name == c.first) {
					t.Errorf("%s is %s: %s", name, st.Phase, st.Message)
				}
			}
		})
	}
}

// CSVs that replace each other in a cycle report this and stop, in any phase. A running one
// continues.
func TestReplacesCircle(t *testing.T) {
	const message = "replace each other in a cycle, so none is the newest; delete one of them, or fix its spec.replaces"
	for _, c := range []struct {
		name   string
		phases []string
		want   []olm.Phase
	}{
		{"both Replacing", []string{"Replacing", "Replacing"}, []olm.Phase{"Replacing", "Replacing"}},
		{"both new", []string{"", ""}, []olm.Phase{"Pending", "Pending"}},
		{"a downgrade", []string{"Pending", "Succeeded"}, []olm.Phase{"Pending", "Succeeded"}},
		{"three", []string{"Replacing", "Pending", "Replacing"}, []olm.Phase{"Replacing", "Pending", "Replacing"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var list []string
			for i, phase := range c.phases {
				list = append(list, csvYAML(fmt.Sprintf("a.v%d", i), fmt.Sprintf("a.v%d", (i+1)%len(c.phases)), phase))
			}
			cluster, plan := settle(t, nil, strings.Join(list, "---\n"))
			for i, want := range c.want {
				name := fmt.Sprintf("a.v%d", i)
				st := get[olm.ClusterServiceVersion](t, cluster, olm.KindClusterServiceVersion, "ops/"+name).Status
				if st.Phase != want || want != olm.PhaseSucceeded && !strings.Contains(st.Message, message) {
					t.Errorf("%s is %s: %s", name, st.Phase, st.Message)
				}
				if want != olm.PhaseSucceeded {
					noted(t, plan, name, message)
				}
			}
			// They continue once the cycle is broken.
			if err := cluster.Remove(key(olm.KindClusterServiceVersion, "ops/a.v1")); err != nil {
				t.Fatal(err)
			}
			if _, err := (&world{Cluster: cluster}).loop().Run(t.Context(), testNamespace); err != nil {
				t.Fatal(err)
			}
			if st := get[olm.ClusterServiceVersion](t, cluster, olm.KindClusterServiceVersion, "ops/a.v0").Status; st.Phase != olm.PhaseSucceeded && len(c.phases) == 2 {
				t.Errorf("with the circle broken a.v0 is %s: %s", st.Phase, st.Message)
			}
		})
	}
}

// E23: a new version takes a deployment over from its predecessor. Other owners stay.
func TestDeploymentHasOneVersion(t *testing.T) {
	deploys := func(text string) string {
		return strings.Replace(text, "deployments: []", `deployments: [{name: a, spec: {selector: {matchLabels: {a: a}}, template: {metadata: {labels: {a: a}}, spec: {containers: [{name: a, image: a}]}}}}]`, 1)
	}
	c, _ := settle(t, nil, deploys(csvYAML("a.v1", "", "")))
	d := get[olm.Deployment](t, c, "Deployment", "ops/a")
	other := olm.OwnerReference{APIVersion: "example.com/v1", Kind: "Other", Name: "o", UID: "u"}
	d.Metadata.OwnerReferences = append(d.Metadata.OwnerReferences, other)
	next := objects(t, []byte(deploys(csvYAML("a.v2", "a.v1", ""))))
	if err := c.Put(d, &next[0]); err != nil {
		t.Fatal(err)
	}
	var owners [][]olm.OwnerReference
	c.Intercept = func(ch reconcile.Change, apply func() error) error {
		if m := ch.Object.Head(); m.Kind == "Deployment" {
			owners = append(owners, m.Metadata.OwnerReferences)
		}
		return apply()
	}
	l := &reconcile.Loop{Cluster: c, MaxPasses: 200}
	if _, err := l.Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	v2 := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, "ops/a.v2")
	if want := [][]olm.OwnerReference{{other, olm.OwnedBy(v2)}}; !reflect.DeepEqual(owners, want) {
		t.Errorf("the deployment is written with the owners %v, want %v", owners, want)
	}
}
