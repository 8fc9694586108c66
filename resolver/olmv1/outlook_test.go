package olmv1_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// TestOutlook checks that selections and refusals contain the outlook of the installed bundle, which explains why it
// is stuck (H40).
func TestOutlook(t *testing.T) {
	catalog, err := graph.LoadReader(context.Background(), strings.NewReader(`
schema: olm.package
name: hub
defaultChannel: r7
---
{schema: olm.channel, package: hub, name: r4, entries: [{name: hub.v1.4.0}]}
---
{schema: olm.channel, package: hub, name: r5, entries: [{name: hub.v1.5.0, replaces: hub.v1.4.0}]}
---
{schema: olm.channel, package: hub, name: r7, entries: [{name: hub.v1.7.0, replaces: hub.v1.5.0}]}
---
{schema: olm.bundle, package: hub, name: hub.v1.4.0, image: i, properties: [{type: olm.package, value: {packageName: hub, version: 1.4.0}}]}
---
{schema: olm.bundle, package: hub, name: hub.v1.5.0, image: i, properties: [{type: olm.package, value: {packageName: hub, version: 1.5.0}}]}
---
{schema: olm.bundle, package: hub, name: hub.v1.7.0, image: i, properties: [{type: olm.package, value: {packageName: hub, version: 1.7.0}}]}
`), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	request := olmv1.Request{
		Package: "hub", Catalogs: []olmv1.Catalog{{Name: "c", Graph: catalog}},
		Installed: &olmv1.Installed{Name: "hub.v1.4.0", Version: "1.4.0"},
	}
	for _, tt := range []struct {
		channels []string
		kind     graph.OutlookKind
		text     string // text in the notes, or in the refusal
	}{
		{nil, "steps-away", "hub.v1.4.0 is two steps from the newest bundle of its package: 1.5.0 first, then 1.7.0"},
		{[]string{"r5"}, "steps-away", "hub.v1.4.0 is one step from the newest bundle of channel r5: 1.5.0. To get to 1.7.0, allow all channels"},
		{[]string{"r7"}, "stuck", "hub.v1.4.0 is stuck: no entry of channel r7 accepts an upgrade from it. hub.v1.7.0, the first newer entry, can be installed only over 1.5.0. To get to 1.7.0, allow all channels, then switch back to channel r7"},
		{[]string{"r4", "r7"}, "stuck", "hub.v1.4.0 is stuck: no entry of channels r4 and r7 accepts an upgrade from it. hub.v1.7.0, the first newer entry, can be installed only over 1.5.0. To get to 1.7.0, allow all channels"},
	} {
		r := request
		r.Channels = tt.channels
		sel, err := olmv1.Select(context.Background(), r)
		var outlook *graph.Outlook
		text := ""
		var no *olmv1.Refusal
		switch {
		case errors.As(err, &no):
			outlook, text = no.Outlook, no.Message
		case err != nil:
			t.Fatal(err)
		default:
			outlook = sel.Outlook
			for _, n := range sel.Notes {
				text += n.Text
			}
		}
		if outlook == nil || outlook.Kind != tt.kind || !strings.HasSuffix(text, tt.text) {
			t.Errorf("channels %v: %+v\n%s\nwant %s", tt.channels, outlook, text, tt.text)
		}
	}
}

// TestLowerStep checks a channel whose versions are out of order: OLM v1 does not take the step to the lower version that
// leads on, and classic OLM does, which nobody should prevent (C3, H40).
func TestLowerStep(t *testing.T) {
	catalog, err := graph.LoadReader(context.Background(), strings.NewReader(`
{schema: olm.package, name: app, defaultChannel: fast}
---
{schema: olm.channel, package: app, name: fast, entries: [{name: app.v0.0.3}, {name: app.v0.1.2, replaces: app.v0.0.3}, {name: app.v0.0.5, replaces: app.v0.1.2}, {name: app.v1.0.0, replaces: app.v0.0.5}]}
---
{schema: olm.bundle, package: app, name: app.v0.0.3, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.0.3}}]}
---
{schema: olm.bundle, package: app, name: app.v0.0.5, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.0.5}}]}
---
{schema: olm.bundle, package: app, name: app.v0.1.2, image: i, properties: [{type: olm.package, value: {packageName: app, version: 0.1.2}}]}
---
{schema: olm.bundle, package: app, name: app.v1.0.0, image: i, properties: [{type: olm.package, value: {packageName: app, version: 1.0.0}}]}
`), "catalog.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ installed, version, want string }{
		{"0.1.2", "", "app.v0.1.2 stays: 0.0.5, which replaces it, has a lower version, and OLM v1 prefers the highest. app.v1.0.0, the first newer entry, can be installed only over 0.0.5. To get to 1.0.0, set the version to 0.0.5 until it is installed, then remove the version"},
		{"0.0.3", "", "app.v0.0.3 is upgraded only to app.v0.1.2, and stays there: 0.0.5, which replaces it, has a lower version, and OLM v1 prefers the highest. app.v1.0.0, the first newer entry, can be installed only over 0.0.5. To get to 1.0.0, wait until 0.1.2 is installed, then set the version to 0.0.5 until it is installed, then remove the version"},
	} {
		sel, err := olmv1.Select(context.Background(), olmv1.Request{
			Package: "app", Catalogs: []olmv1.Catalog{{Name: "c", Graph: catalog}},
			Installed: &olmv1.Installed{Name: "app.v" + tt.installed, Version: tt.installed},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(sel.Notes) != 1 || sel.Notes[0].Text != tt.want {
			t.Errorf("%s: %+v, want %s", tt.installed, sel.Notes, tt.want)
		}
	}
	sol, err := resolver.Resolve(context.Background(), resolver.Problem{
		Namespace: "operators", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "operators", Graph: catalog}},
		Subscriptions: []resolver.Subscription{{Name: "app", Package: "app", Channel: "fast", InstalledCSV: "app.v0.1.2"}},
		Installed:     []resolver.Installed{{Name: "app.v0.1.2", Package: "app", Version: "0.1.2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "0.0.5 leads on to 1.0.0: back up the resources of the operator and let OLM take it, or keep 0.1.2 with installPlanApproval Manual and get nothing newer"
	advice, err := sol.Advice(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(advice) != 1 || !strings.HasSuffix(advice[0].Text, want) || len(advice[0].Commands) > 0 {
		t.Errorf("%+v, want %s", advice, want)
	}
}
