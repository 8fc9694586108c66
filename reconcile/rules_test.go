package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	rules "github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// E6: an OperatorCondition may block the version that replaces an operator.
func TestNotUpgradeable(t *testing.T) {
	for _, c := range []struct{ name, condition, want string }{
		{"no conditions", `{metadata: {generation: 1}}`, ""},
		{"spec says no", `{metadata: {generation: 1}, spec: {conditions: [{type: Upgradeable, status: "False", reason: migration, message: The Operator is performing a migration.}]}}`,
			"migration: The Operator is performing a migration."},
		{"spec says yes", `{metadata: {generation: 1}, spec: {conditions: [{type: Upgradeable, status: "True"}]}}`, ""},
		{"status says no", `{metadata: {generation: 2}, status: {conditions: [{type: Upgradeable, status: "False", observedGeneration: 2}]}}`, "Upgradeable=False"},
		{"status says yes", `{metadata: {generation: 2}, status: {conditions: [{type: Upgradeable, status: "True", observedGeneration: 2}]}}`, ""},
		{"status of an older generation", `{metadata: {generation: 3}, status: {conditions: [{type: Upgradeable, status: "True", observedGeneration: 2}]}}`,
			"its condition Upgradeable is from generation 2, but the resource has generation 3"},
		{"override says yes", `{metadata: {generation: 3}, spec: {overrides: [{type: Upgradeable, status: "True"}], conditions: [{type: Upgradeable, status: "False"}]}}`, ""},
		{"override says no", `{metadata: {generation: 1}, spec: {overrides: [{type: Upgradeable, status: "False", message: wait}], conditions: [{type: Upgradeable, status: "True"}]}}`,
			"overridden by an administrator: wait"},
		{"other conditions do not count", `{spec: {conditions: [{type: Happy, status: "False"}]}}`, ""},
	} {
		if got := rules.NotUpgradeable(fromYAML[olm.OperatorCondition](t, c.condition)); got != c.want {
			t.Errorf("%s: NotUpgradeable = %q, want %q", c.name, got, c.want)
		}
	}
	if got := rules.NotUpgradeable(nil); got != "" {
		t.Errorf("NotUpgradeable(nil) = %q", got)
	}
}

// C7: the property olm.maxOpenShiftVersion of installed CSVs.
func TestUpgradeBlockers(t *testing.T) {
	csv := func(name, properties string) *olm.ClusterServiceVersion {
		c := new(olm.ClusterServiceVersion)
		c.Kind = olm.KindClusterServiceVersion
		c.Metadata = olm.Metadata{Name: name, Namespace: "ops"}
		if properties != "" {
			c.Metadata.SetAnnotation(property.Annotation, properties)
		}
		return c
	}
	copied := csv("copied", `[{"type":"olm.maxOpenShiftVersion","value":"4.1"}]`)
	copied.Status.Reason = reason.Copied
	csvs := []*olm.ClusterServiceVersion{
		csv("none", ""),
		csv("enough", `[{"type":"olm.maxOpenShiftVersion","value":"4.20"}]`),
		csv("low", `[{"type":"olm.maxOpenShiftVersion","value":"4.19.9"}]`),
		csv("malformed", `[{"type":"olm.maxOpenShiftVersion","value":"soon"}]`),
		csv("garbage", `{`),
		copied,
	}
	for _, version := range []string{"4.19.0", "4.19.0-rc1"} {
		list, err := reconcile.UpgradeBlockers(csvs, version)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range list {
			text, _, _ := strings.Cut(b.String(), "annotation")
			got = append(got, strings.TrimSpace(text))
		}
		want := []string{
			"ClusterServiceVersion ops/low: it supports the platform up to 4.19; upgrade or remove the operator first",
			`ClusterServiceVersion ops/malformed: its maximum platform version cannot be read: olm.maxOpenShiftVersion: invalid version "soon": want major.minor, such as 4.19; fix the property or remove the operator first`,
			"ClusterServiceVersion ops/garbage: its maximum platform version cannot be read: ClusterServiceVersion ops/garbage:",
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: blockers (-want +got):\n%s", version, diff)
		}
	}
	if list, err := reconcile.UpgradeBlockers(csvs[:3], "4.18.3"); err != nil || len(list) != 0 {
		t.Errorf("4.18.3: %v, %v; want nothing: everything supports 4.19", list, err)
	}
	if _, err := reconcile.UpgradeBlockers(nil, "soon"); err == nil {
		t.Error("no error for a version that is none")
	}
}

func TestPropertiesOfCSV(t *testing.T) {
	for _, c := range []struct{ name, csv, want, err string }{
		{"by hand", `{spec: {customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}], required: [{name: bs.x.io, version: v1, kind: B}]}, apiservicedefinitions: {owned: [{name: cs, group: y.io, version: v1, kind: C}], required: [{name: ds, group: y.io, version: v1, kind: D}]}}}`,
			"olm.gvk olm.gvk olm.gvk.required olm.gvk.required", ""},
		{"author's beside the inferred", `{metadata: {annotations: {olm.properties: '[{"type":"olm.maxOpenShiftVersion","value":"4.9"}]'}}, spec: {customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}]}}}`,
			"olm.gvk olm.maxOpenShiftVersion", ""},
		{"the bundle's", `{metadata: {annotations: {olm.properties: '[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]'}}, spec: {customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}]}}}`,
			"olm.package", ""},
		{"OLM's own", `{metadata: {annotations: {operatorframework.io/properties: '{"properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}'}}}`,
			"olm.package", ""},
		{"malformed", `{metadata: {annotations: {olm.properties: '[1]'}}}`, "", "annotation olm.properties"},
		{"malformed projection", `{metadata: {annotations: {operatorframework.io/properties: '['}}}`, "", "annotation operatorframework.io/properties"},
		{"CRD name", `{spec: {customresourcedefinitions: {owned: [{name: as, version: v1, kind: A}]}}}`, "", "is not the name of a CRD"},
	} {
		list, err := rules.Properties(fromYAML[olm.ClusterServiceVersion](t, c.csv))
		var types []string
		for _, p := range list {
			types = append(types, p.Type)
		}
		if got := strings.Join(types, " "); got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: Properties = %q, %v; want %q, %s", c.name, got, err, c.want, c.err)
		}
	}
}

func TestDecideNeedsANamespace(t *testing.T) {
	if _, err := reconcile.Decide(t.Context(), &reconcile.Snapshot{}, nil, nil); err == nil || errors.Is(err, reconcile.ErrConflict) {
		t.Errorf("Decide without a namespace: %v", err)
	}
}

// What an operator owns includes webhooks and API services.
func TestOwned(t *testing.T) {
	csv := fromYAML[olm.ClusterServiceVersion](t, `
metadata: {name: a.v1, namespace: ops}
spec:
  customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}, {name: as.x.io, version: v2, kind: A}]}
  apiservicedefinitions: {owned: [{name: bs, group: y.io, version: v1, kind: B, deploymentName: a}]}
  webhookdefinitions:
  - {type: ValidatingAdmissionWebhook, generateName: check.x.io, deploymentName: a}
  - {type: MutatingAdmissionWebhook, generateName: fill.x.io, deploymentName: a}
  - {type: ConversionWebhook, generateName: convert.x.io, deploymentName: a, conversionCRDs: [as.x.io, cs.x.io]}
  install: {strategy: deployment, spec: {deployments: [{name: a, spec: {}}], permissions: [{serviceAccountName: a, rules: []}]}}
`)
	keys, err := reconcile.Owned(csv)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range keys {
		got = append(got, strings.SplitN(k.String(), "-", 2)[0])
	}
	want := []string{
		"Deployment ops/a", "CustomResourceDefinition as.x.io", "APIService v1.y.io",
		"ValidatingWebhookConfiguration check.x.io", "MutatingWebhookConfiguration fill.x.io", "CustomResourceDefinition cs.x.io",
		"ServiceAccount ops/a", "Role ops/a.v1",
		"Service ops/a", "Secret ops/a", "Role ops/a", "RoleBinding ops/a",
		"RoleBinding ops/a.v1", "ClusterRoleBinding a", "RoleBinding kube",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("Owned (-want +got):\n%s", diff)
	}
}

// G1: one part of a namespace cannot be satisfied. By default nothing is planned, and the
// plan lists the parts that could be; with Partial the other parts are planned.
func TestPartial(t *testing.T) {
	for _, partial := range []bool{false, true} {
		w := worldOf(t, "no-solution")
		l := w.loop()
		l.Options.Resolver.Partial = partial
		r, err := l.Run(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		var no *resolver.Conflict
		if !errors.As(r.Plan.Refused, &no) {
			t.Fatalf("partial %v: refused %v", partial, r.Plan.Refused)
		}
		example, a := subscription(t, w, "example"), subscription(t, w, "a")
		_, failed := olm.FindCondition(example.Status.Conditions, "ResolutionFailed")
		if installed := example.Status.InstalledCSV == "example.v0.1.1"; installed != partial || failed == partial {
			t.Errorf("partial %v: example installed %v, resolution failed %v", partial, installed, failed)
		}
		if _, ok := olm.FindCondition(a.Status.Conditions, "ResolutionFailed"); !ok {
			t.Errorf("partial %v: subscription a does not report it", partial)
		}
		if !partial && (no.Planned() == nil || len(no.Planned().Selected) != 1 || no.Planned().Selected[0].Name != "example.v0.1.1") {
			t.Errorf("what could be planned is not there to read: %+v", no.Planned())
		}
	}
}
