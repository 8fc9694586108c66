package olmv1_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
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
		{[]string{"r5"}, "steps-away", ""},
		{[]string{"r7"}, "stuck", "hub.v1.4.0 is stuck: no entry of channel r7 accepts an upgrade from it. hub.v1.7.0, the first newer entry, can be installed only over 1.5.0. To get to 1.7.0, allow all channels"},
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
		if outlook == nil || outlook.Kind != tt.kind || !strings.HasSuffix(text, tt.text) || tt.text == "" && text != "" {
			t.Errorf("channels %v: %+v\n%s\nwant %s", tt.channels, outlook, text, tt.text)
		}
	}
}
