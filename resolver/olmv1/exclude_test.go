package olmv1_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// TestExcluded checks that excluded upgrades are not taken under any policy, and that answers name them with their
// reasons (G8).
func TestExcluded(t *testing.T) {
	catalog, err := graph.LoadReader(t.Context(), strings.NewReader(`
{schema: olm.package, name: demo, defaultChannel: a}
---
schema: olm.channel
package: demo
name: a
entries:
- {name: demo.v1.0.0}
- {name: demo.v2.0.0, replaces: demo.v1.0.0}
- {name: demo.v3.0.0, replaces: demo.v2.0.0, skipRange: "<3.0.0"}
---
{schema: olm.bundle, package: demo, name: demo.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: demo, version: 1.0.0}}]}
---
{schema: olm.bundle, package: demo, name: demo.v2.0.0, image: i, properties: [{type: olm.package, value: {packageName: demo, version: 2.0.0}}]}
---
{schema: olm.bundle, package: demo, name: demo.v3.0.0, image: i, properties: [{type: olm.package, value: {packageName: demo, version: 3.0.0}}]}
`), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	to3 := graph.Exclusion{From: "demo.v1.0.0", To: "demo.v3.0.0", Reason: "breaks: impact-crd-unsafe"}
	to2 := graph.Exclusion{From: "demo.v1.0.0", To: "demo.v2.0.0"}
	other := graph.Exclusion{From: "demo.v2.0.0", To: "demo.v3.0.0", Reason: "no"}
	for _, tt := range []struct {
		name      string
		installed string
		version   string
		policy    olmv1.UpgradePolicy
		excluded  []graph.Exclusion
		want      string // the bundle and its notes, or the refusal
	}{
		{"none", "1.0.0", "", "", []graph.Exclusion{other}, "demo.v3.0.0"},
		{"a new installation", "", "", "", []graph.Exclusion{to3}, "demo.v3.0.0"},
		{"another bundle", "1.0.0", "", "", []graph.Exclusion{to3},
			"demo.v2.0.0; upgrades are excluded: demo.v1.0.0 to demo.v3.0.0 (breaks: impact-crd-unsafe); without that, demo.v3.0.0 is selected"},
		{"the installed one stays", "1.0.0", "", "", []graph.Exclusion{to3, to2},
			"demo.v1.0.0; upgrades are excluded: demo.v1.0.0 to demo.v2.0.0 and demo.v1.0.0 to demo.v3.0.0 (breaks: impact-crd-unsafe); without that, demo.v3.0.0 is selected"},
		{"refused", "1.0.0", ">=3", "", []graph.Exclusion{to3},
			`no bundle of package "demo" in range ">=3" is a successor of demo.v1.0.0 without an excluded upgrade: demo.v1.0.0 to demo.v3.0.0 (breaks: impact-crd-unsafe); to reach it, install in order: demo.v2.0.0, then demo.v3.0.0`},
		{"self-certified", "1.0.0", ">=3", olmv1.SelfCertified, []graph.Exclusion{to3},
			`no bundle of package "demo" in range ">=3" is a successor of demo.v1.0.0 without an excluded upgrade: demo.v1.0.0 to demo.v3.0.0 (breaks: impact-crd-unsafe)`},
		{"without a version", "none", "", olmv1.SelfCertified, []graph.Exclusion{{From: "demo.vnone", To: "demo.v1.0.0"}, {From: "demo.vnone", To: "demo.v2.0.0"}, {From: "demo.vnone", To: "demo.v3.0.0"}},
			`no bundle of package "demo" is a successor of demo.vnone without an excluded upgrade: demo.vnone to demo.v1.0.0, demo.vnone to demo.v2.0.0 and demo.vnone to demo.v3.0.0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := olmv1.Request{Package: "demo", Version: tt.version, Policy: tt.policy, Catalogs: []olmv1.Catalog{{Name: "c", Graph: catalog}}, Options: olmv1.Options{Excluded: tt.excluded}}
			if tt.installed != "" {
				r.Installed = &olmv1.Installed{Name: "demo.v" + tt.installed, Version: tt.installed}
			}
			sel, err := olmv1.Select(t.Context(), r)
			got := ""
			var no *olmv1.Refusal
			switch {
			case errors.As(err, &no):
				if got = no.Message; no.Code != olmv1.RefusedSuccessors {
					t.Errorf("the code is %s", no.Code)
				}
			case err != nil:
				t.Fatal(err)
			default:
				got = sel.Bundle
				for _, n := range sel.Notes {
					got += "; " + n.Text
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
