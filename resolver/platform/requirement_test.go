package platform_test

import (
	"context"
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
