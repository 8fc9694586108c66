package reconcile_test

import (
	"os"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
)

// H22: testdata/installed.tsv lists the effective properties of an installed operator for
// the combinations of its version, its annotations and the subscriptions that own it.
// TestInstalled in module compare compares the same table with the running OLM.
func TestInstalled(t *testing.T) {
	text, err := os.ReadFile("testdata/installed.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		t.Run(f[0], func(t *testing.T) {
			csv := fromYAML[olm.ClusterServiceVersion](t, `
metadata: {name: x, namespace: ops}
spec: {customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}], required: [{name: bs.x.io, version: v1, kind: B}]}}`)
			csv.Spec.Version = f[1]
			if f[2] != "" {
				csv.Metadata.SetAnnotation(property.ProjectedAnnotation, f[2])
			}
			if f[3] != "" {
				csv.Metadata.SetAnnotation(property.Annotation, f[3])
			}
			var subs []*olm.Subscription
			for _, pkg := range strings.Fields(f[4]) {
				s := &olm.Subscription{}
				s.Metadata.Namespace, s.Spec.Package, s.Status.InstalledCSV = "ops", pkg, "x"
				subs = append(subs, s)
			}
			in, faults := reconcile.Installed(csv, subs)
			if len(faults) > 0 {
				t.Fatal(faults)
			}
			v, _ := semver.Parse(in.Version)
			list := constraints.NewPropertyList(in.Properties, &constraints.Identity{Package: in.Package, Version: &v})
			var packages, versions, types []string
			for _, name := range []string{"a", "b", "x"} {
				if list.InPackage(name) {
					packages = append(packages, name)
				}
			}
			for _, v := range []string{"0.0.0", "1.0.0", "2.0.0", "3.0.0"} {
				r, err := constraints.ParseRange(v)
				if err != nil {
					t.Fatal(err)
				}
				if list.VersionIn(r) {
					versions = append(versions, v)
				}
			}
			for _, p := range in.Properties {
				types = append(types, p.Type)
			}
			got := strings.Join([]string{strings.Join(packages, " "), strings.Join(versions, " "), strings.Join(types, " ")}, "\t")
			if want := strings.Join(f[5:], "\t"); got != want {
				t.Errorf("packages, versions, properties:\n got %q\nwant %q", got, want)
			}
		})
	}
	if rows == 0 {
		t.Error("the table has no rows")
	}
}

// H22: a plan reads installed operators in the same way: an operator whose annotation has no
// version, and one without an annotation, satisfy the requirements of another.
func TestInstalledMeets(t *testing.T) {
	for _, metadata := range []string{
		`annotations: {operatorframework.io/properties: '{"properties": [{"type": "olm.package", "value": {"packageName": "a", "version": ""}}]}'}`,
		`labels: {}`,
	} {
		s, err := reconcile.NewSnapshot(testNamespace, "olm", objects(t, []byte(groupAndSource+`apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: a, namespace: ops}
spec: {name: a, channel: s, source: c, sourceNamespace: olm}
status: {currentCSV: a.old, installedCSV: a.old, state: AtLatestKnown}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: e, namespace: ops}
spec: {name: e, channel: s, source: c, sourceNamespace: olm}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.old, namespace: ops, `+metadata+`}
spec: {version: 1.0.0, install: {strategy: deployment}}
status: {phase: Succeeded}
`)))
		if err != nil {
			t.Fatal(err)
		}
		content := chains(t, map[string]int{"a": 1, "e": 1}, `{type: olm.package.required, value: {packageName: a, versionRange: <=1.0.0}}`)
		plan, err := reconcile.Decide(t.Context(), s, content, nil)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Refused != nil || len(plan.Solution.Selected) != 1 || plan.Solution.Selected[0].Name != "e.v1" {
			t.Errorf("%s: %v, %+v; want e.v1 alone", metadata, plan.Refused, plan.Solution)
		}
	}
}
