package platform_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/platform"
)

// TestRequirements: a step to a bundle whose requirement no given catalog and no other operator
// satisfies is reported as not checked (G5).
func TestRequirements(t *testing.T) {
	const app = `
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v1}, {name: app.v2, replaces: app.v1}]}
---
{schema: olm.bundle, package: app, name: app.v1, image: i, properties: [{type: olm.package, value: {packageName: app, version: 1.0.0}}]}
---
{schema: olm.bundle, package: app, name: app.v2, image: i, properties: [{type: olm.package, value: {packageName: app, version: 2.0.0}},
  {type: olm.gvk.required, value: {group: x.io, version: v1, kind: X}}, {type: olm.package.required, value: {packageName: lib, versionRange: ">=1.0.0"}}]}
`
	const lib = `
---
{schema: olm.package, name: lib, defaultChannel: stable}
---
{schema: olm.channel, package: lib, name: stable, entries: [{name: lib.v1}]}
---
{schema: olm.bundle, package: lib, name: lib.v1, image: i, properties: [{type: olm.package, value: {packageName: lib, version: 1.0.0}},
  {type: olm.gvk, value: {group: x.io, version: v1, kind: X}}]}
`
	more := strings.Replace(app, "replaces: app.v1}", "replaces: app.v1}, {name: app.v3, replaces: app.v2}, {name: app.v4, replaces: app.v3}", 1)
	for _, name := range []string{"v3", "v4"} {
		more += `
---
{schema: olm.bundle, package: app, name: app.` + name + `, image: i, properties: [{type: olm.package, value: {packageName: app, version: ` + name[1:] + `.0.0}},
  {type: olm.package.required, value: {packageName: lib, versionRange: ">=2.0.0"}}]}
`
	}
	other := func(property string) string {
		a, b, _ := strings.Cut(app, "{type: olm.gvk.required")
		_, c, _ := strings.Cut(b, ">=1.0.0\"}}")
		return a + property + c
	}
	newer := other(`{type: olm.package.required, value: {packageName: lib, versionRange: ">=2.0.0"}}`) + lib + `
---
{schema: olm.channel, package: lib, name: next, entries: [{name: lib.v2, replaces: lib.v1}]}
---
{schema: olm.bundle, package: lib, name: lib.v2, image: i, properties: [{type: olm.package, value: {packageName: lib, version: 2.0.0}}%s]}
`
	next := fmt.Sprintf(newer, "")
	broken := fmt.Sprintf(newer, `, {type: olm.package.required, value: {packageName: none, versionRange: ">=1.0.0"}}`)
	actions := map[string]string{
		"another channel has it":      "install lib.v2 in the place of lib.v1",
		"what has it lacks something": "see that something provides package lib >=2.0.0: lib.v2 requires package none >=1.0.0, which no bundle provides",
		"it must not be installed":    "choose between the upgrade to app.v2 (2.0.0) and the installed lib.v1",
	}
	not := other(`{type: olm.constraint, value: {failureMessage: m, not: {constraints: [{failureMessage: o, package: {packageName: lib, versionRange: ">=0.0.0"}}]}}}`) + lib
	for _, tt := range []struct {
		name, at, next string
		installed      []string
		want           []string
	}{
		{"nothing has it", app, app, []string{"app"},
			[]string{"OLM upgrades package app to app.v2 (2.0.0) on 4.16 only if something provides API X (x.io/v1) and package lib >=1.0.0, which no given catalog has"}},
		{"a later step requires more", more + lib, more + lib, []string{"app"},
			[]string{"OLM upgrades package app to app.v3 (3.0.0) on 4.16 only if something provides package lib >=2.0.0, which no given catalog has"}},
		{"steps have different requirements", more, more, []string{"app"}, []string{
			"OLM upgrades package app to app.v2 (2.0.0) on 4.16 only if something provides API X (x.io/v1) and package lib >=1.0.0, which no given catalog has",
			"OLM upgrades package app to app.v3 (3.0.0) on 4.16 only if something provides package lib >=2.0.0, which no given catalog has",
		}},
		{"another channel has it", next, next, []string{"app", "lib"},
			[]string{"OLM upgrades package app to app.v2 (2.0.0) on 4.16 only if it satisfies the requirement package lib >=2.0.0, which it cannot next to the installed lib.v1"}},
		{"what has it lacks something", broken, broken, []string{"app"},
			[]string{"OLM upgrades package app to app.v2 (2.0.0) on 4.16 only if something provides package lib >=2.0.0: lib.v2 requires package none >=1.0.0, which no bundle provides"}},
		{"it must not be installed", not, not, []string{"app", "lib"},
			[]string{"OLM upgrades package app to app.v2 (2.0.0) on 4.16 only if it satisfies the requirement no package lib >=0.0.0, which it cannot next to the installed lib.v1"}},
		{"it is not installed", not, not, []string{"app"}, nil},
		{"the catalog has it", app + lib, app + lib, []string{"app"}, nil},
		{"an operator provides it, which only a later catalog has", app, app + lib, []string{"app", "lib"}, nil},
	} {
		p := platform.Problem{From: "4.16", To: "4.17"}
		for version, text := range map[string]string{"4.16": tt.at, "4.17": tt.next} {
			g, err := graph.LoadReader(context.Background(), strings.NewReader(text), "catalog.yaml", nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Catalogs = append(p.Catalogs, platform.Catalog{Platform: version, Graph: g})
		}
		for _, pkg := range tt.installed {
			p.Installed = append(p.Installed, platform.Operator{Name: pkg + ".v1", Package: pkg, Channel: "stable"})
		}
		plan, err := platform.Upgrade(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(plan.Warnings, tt.want) || len(plan.Unchecked) != len(tt.want) {
			t.Errorf("%s: warnings %q, want %q", tt.name, plan.Warnings, tt.want)
		}
		var needs []string
		for _, n := range plan.Needs {
			if n.Package == "app" {
				needs = append(needs, n.Action)
			}
		}
		if want := actions[tt.name]; want != "" && (len(needs) != 1 || needs[0] != want) {
			t.Errorf("%s: needs %q, want %q", tt.name, needs, want)
		}
	}
}

// TestWaits: an operator whose head needs a newer Kubernetes is not left without a path, so nobody is asked
// to replace it (C7).
func TestWaits(t *testing.T) {
	const catalog = `
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v1}, {name: app.v2, replaces: app.v1}]}
---
{schema: olm.bundle, package: app, name: app.v1, image: i, properties: [{type: olm.package, value: {packageName: app, version: 1.0.0}}]}
---
{schema: olm.bundle, package: app, name: app.v2, image: i, properties: [{type: olm.package, value: {packageName: app, version: 2.0.0}},
  {type: olm.csv.metadata, value: {minKubeVersion: 1.31.0}}]}
`
	g, err := graph.LoadReader(context.Background(), strings.NewReader(catalog), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, installed := range []string{"app.v1", "app.v2"} {
		p := platform.Problem{From: "4.16", To: "4.17", Installed: []platform.Operator{{Name: installed, Package: "app", Channel: "stable"}}}
		for _, version := range []string{"4.16", "4.17"} {
			p.Catalogs = append(p.Catalogs, platform.Catalog{Platform: version, Graph: g})
		}
		plan, err := platform.Upgrade(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range plan.Blockers {
			if b.Kind != platform.BlockerMinKube {
				t.Errorf("%s: blocker %s at %s: %s", installed, b.Kind, b.Platform, b.Reason)
			}
		}
		if len(plan.Blockers) != 2 || len(plan.Needs) > 0 {
			t.Errorf("%s: %d blockers and needs %v, want 2 and none", installed, len(plan.Blockers), plan.Needs)
		}
	}
}
