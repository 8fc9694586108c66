package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// E10, E12: a subscription waits while its operator is being installed or has failed; the
// rest of the namespace is resolved without it. With fail forward, a subscription whose
// upgrade failed continues.
func TestSubscriptionWaits(t *testing.T) {
	const failForward = "spec: {upgradeStrategy: TechPreviewUnsafeFailForward}"
	for _, c := range []struct {
		name, group string
		phases      []olm.Phase // of a.v1, a.v2, ..., each of which replaces the one before
		want        []string    // what is installed next
		why         string
	}{
		{"installed", "", []olm.Phase{olm.PhaseSucceeded}, []string{"a.v2", "e.v1"}, ""},
		{"installing", "", []olm.Phase{olm.PhaseInstalling}, []string{"e.v1"}, "a.v1 is still being installed (it is Installing)"},
		{"pending", "", []olm.Phase{olm.PhasePending}, []string{"e.v1"}, "a.v1 is still being installed (it is Pending)"},
		{"failed", "", []olm.Phase{olm.PhaseFailed}, []string{"e.v1"}, "a.v1 failed and is not replaced: its status does not give the cause; fix the cause"},
		{"failed, fail forward", failForward, []olm.Phase{olm.PhaseFailed}, []string{"a.v2", "e.v1"}, ""},
		{"being replaced", "", []olm.Phase{olm.PhaseReplacing, olm.PhaseSucceeded}, []string{"e.v1"}, "a.v2 has not yet replaced a.v1 (it is Succeeded): one version at a time"},
		{"upgrade failed", "", []olm.Phase{olm.PhaseReplacing, olm.PhaseFailed}, []string{"e.v1"}, "a.v2 failed while replacing a.v1: its status does not give the cause; fix the cause"},
		{"upgrade failed, with a cause", "", []olm.Phase{olm.PhaseReplacing, "Failed, message: The deployment is not available."}, []string{"e.v1"}, "a.v2 failed while replacing a.v1: The deployment is not available; fix the cause"},
		{"upgrade failed, unknown strategy", "spec: {upgradeStrategy: FailForward}", []olm.Phase{olm.PhaseReplacing, olm.PhaseFailed}, []string{"e.v1"}, "a.v2 failed while replacing a.v1: its status"},
		{"upgrade failed, fail forward", failForward, []olm.Phase{olm.PhaseReplacing, olm.PhaseFailed}, []string{"a.v3", "e.v1"}, ""},
		{"two upgrades failed, fail forward", failForward, []olm.Phase{olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseFailed}, []string{"a.v4", "e.v1"}, ""},
		{"upgrade installing, fail forward", failForward, []olm.Phase{olm.PhaseReplacing, olm.PhaseInstalling}, []string{"e.v1"}, "a.v2 has not yet replaced a.v1 (it is Installing): one version at a time"},
		{"not yet being replaced, fail forward", failForward, []olm.Phase{olm.PhaseSucceeded, olm.PhaseFailed}, []string{"e.v1"}, "a.v2 failed while replacing a.v1: its status does not give the cause; it can be replaced once every version before it is Replacing"},
		{"the head failed, fail forward", failForward, []olm.Phase{olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseFailed}, []string{"e.v1"}, "a.v5 failed, and it is the head of its channel: its status does not give the cause; publish a version that can replace it, or fix the cause"},
		{"no successor, fail forward", failForward, []olm.Phase{olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseReplacing, olm.PhaseFailed}, []string{"e.v1"}, "a.v6 failed, and it has no successor in the channel: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			installed := fmt.Sprintf("a.v%d", len(c.phases))
			text := `
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: og, namespace: ops}
` + c.group + `
status: {namespaces: [""]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: c, namespace: olm}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: a, namespace: ops}
spec: {name: a, channel: s, source: c, sourceNamespace: olm}
status: {currentCSV: ` + installed + `, installedCSV: ` + installed + `, state: AtLatestKnown}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: e, namespace: ops}
spec: {name: e, channel: s, source: c, sourceNamespace: olm}
`
			for i, phase := range c.phases {
				replaces := ""
				if i > 0 {
					replaces = fmt.Sprintf("replaces: a.v%d, ", i)
				}
				text += fmt.Sprintf(`---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v%d, namespace: ops}
spec: {version: %d.0.0, %sinstall: {strategy: deployment}}
status: {phase: %s}
`, i+1, i+1, replaces, phase)
			}
			s, err := reconcile.NewSnapshot(testNamespace, "olm", objects(t, []byte(text)))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := reconcile.Decide(t.Context(), s, chains(t, map[string]int{"a": 5, "e": 1}), nil)
			if err != nil {
				t.Fatal(err)
			}
			if plan.Refused != nil {
				t.Fatal(plan.Refused)
			}
			var got []string
			for _, x := range plan.Solution.Selected {
				got = append(got, x.Name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("installs %v, want %v", got, c.want)
			}
			if c.why != "" {
				noted(t, plan, "a", c.why)
			}
			if strings.Contains(c.group, ": FailForward") {
				noted(t, plan, "og", `upgradeStrategy "FailForward" is unknown and treated as Default; set it to Default or TechPreviewUnsafeFailForward`)
				if !slices.ContainsFunc(plan.Notes, func(n reconcile.Note) bool { return n.Object.Name == "og" && n.Rule == "E10" }) {
					t.Errorf("no note about og has the rule E10: %v", plan.Notes)
				}
			}
		})
	}
}

// chains returns a catalog olm/c with a package of each name, whose channel s
// leads from v1 to the version given. The properties are those of package e.
func chains(t *testing.T, packages map[string]int, properties ...string) *reconcile.Catalogs {
	t.Helper()
	text := ""
	for name, n := range packages {
		entries := ""
		var own []string
		if name == "e" {
			own = properties
		}
		for v := n; v > 0; v-- {
			if v > 1 {
				entries += fmt.Sprintf("{name: %s.v%d, replaces: %s.v%d}, ", name, v, name, v-1)
			} else {
				entries += fmt.Sprintf("{name: %s.v%d}", name, v)
			}
			text += fmt.Sprintf("---\nschema: olm.bundle\npackage: %s\nname: %s.v%d\nimage: example.com/a\nproperties: [%s]\n", name, name, v,
				strings.Join(append([]string{fmt.Sprintf("{type: olm.package, value: {packageName: %s, version: %d.0.0}}", name, v)}, own...), ", "))
		}
		text += fmt.Sprintf("---\nschema: olm.package\nname: %s\ndefaultChannel: s\n---\nschema: olm.channel\npackage: %s\nname: s\nentries: [%s]\n", name, name, entries)
	}
	blobs, err := fbc.LoadReader(t.Context(), strings.NewReader(text), "c.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	c := &reconcile.Catalogs{StandIns: true}
	if err := c.Add(t.Context(), resolver.CatalogID{Name: "c", Namespace: "olm"}, blobs); err != nil {
		t.Fatal(err)
	}
	return c
}

// H2: an entry whose skipRange includes its own version follows itself. No install plan is
// made for a bundle that is already installed.
func TestFollowsItself(t *testing.T) {
	blobs, err := fbc.LoadReader(t.Context(), strings.NewReader(`
schema: olm.package
name: a
defaultChannel: s
---
schema: olm.channel
package: a
name: s
entries: [{name: a.v1, skipRange: <2.0.0}]
---
schema: olm.bundle
package: a
name: a.v1
image: example.com/a
properties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]
`), "c.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	content := &reconcile.Catalogs{StandIns: true}
	if err := content.Add(t.Context(), resolver.CatalogID{Name: "c", Namespace: "olm"}, blobs); err != nil {
		t.Fatal(err)
	}
	s, err := reconcile.NewSnapshot(testNamespace, "olm", objects(t, []byte(groupAndSource+`apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: a, namespace: ops}
spec: {name: a, channel: s, source: c, sourceNamespace: olm}
status: {currentCSV: a.v1, installedCSV: a.v1, state: AtLatestKnown}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v1, namespace: ops}
spec: {version: 1.0.0, install: {strategy: deployment}}
status: {phase: Succeeded}
`)))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := reconcile.Decide(t.Context(), s, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Solution == nil || len(plan.Solution.Selected) != 1 {
		t.Fatalf("the solution is %+v; want a.v1, which follows itself", plan.Solution)
	}
	for _, c := range plan.Changes {
		if c.Object.Kind == olm.KindInstallPlan {
			t.Errorf("%s", &c)
		}
	}
}
