package platform_test

import (
	"context"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/platform"
)

// TestOtherNames: a catalog that has the package of an operator under another name than the one that the operator
// follows is named, with the flag that gives it that name (G5).
func TestOtherNames(t *testing.T) {
	const app, none = `
{schema: olm.package, name: app, defaultChannel: stable}
---
{schema: olm.channel, package: app, name: stable, entries: [{name: app.v1}]}
---
{schema: olm.bundle, package: app, name: app.v1, image: i, properties: [{type: olm.package, value: {packageName: app, version: 1.0.0}}]}
`, "{schema: olm.package, name: lib, defaultChannel: stable}\n---\n{schema: olm.channel, package: lib, name: stable, entries: [{name: lib.v1}]}"
	for _, tt := range []struct {
		name           string
		next           map[string]string
		reason, action string
	}{
		{"one", map[string]string{"new": app},
			"the operator follows catalog old; for 4.17, package app is only in new, so app.v1 (1.0.0) gets no updates there",
			"if new takes the place of catalog old on 4.17, give it that name: --catalog '4.17=old:dir of new'"},
		{"two", map[string]string{"new": app, "newer": app, "other": none},
			"the operator follows catalog old; for 4.17, package app is only in new and newer, so app.v1 (1.0.0) gets no updates there",
			"if new or newer takes the place of catalog old on 4.17, give it that name: --catalog 4.17=old:PATH"},
		{"its catalog lost the package", map[string]string{"new": app, "old": none},
			"the operator follows catalog old; for 4.17, package app is only in new, so app.v1 (1.0.0) gets no updates there",
			"switch it to new, or accept that it gets no updates"},
		{"nowhere", map[string]string{"new": none},
			"no given catalog for 4.17 has package app, so app.v1 (1.0.0) gets no updates there",
			"give the catalog for 4.17 that has package app; if there is none, replace the operator, or accept that it gets no updates"},
	} {
		p := platform.Problem{From: "4.16", To: "4.17", Installed: []platform.Operator{{Name: "app.v1", Package: "app", Channel: "stable", Catalog: "old"}}}
		add := func(version, name, text string) {
			g, err := graph.LoadReader(context.Background(), strings.NewReader(text), "catalog.yaml", nil)
			if err != nil {
				t.Fatal(err)
			}
			p.Catalogs = append(p.Catalogs, platform.Catalog{Platform: version, Name: name, Dir: "dir of " + name, Graph: g})
		}
		add("4.16", "old", app)
		for name, text := range tt.next {
			add("4.17", name, text)
		}
		plan, err := platform.Upgrade(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Blockers) != 1 || plan.Blockers[0].Reason != tt.reason || plan.Blockers[0].Action != tt.action {
			t.Errorf("%s: got %+v, want %q and %q", tt.name, plan.Blockers, tt.reason, tt.action)
		}
	}
}
