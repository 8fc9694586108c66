package resolver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/resolver"
)

// TestDiffers checks that an answer that the running OLM would not give names the rule by which it differs, and that
// other answers name none (D6, H7, H26, H28).
func TestDiffers(t *testing.T) {
	const (
		pkg  = `{"schema":"olm.package","name":"a","defaultChannel":"s"}`
		d    = `{"schema":"olm.package","name":"d","defaultChannel":"s"}{"schema":"olm.channel","name":"s","package":"d","entries":[{"name":"d1"}]}{"schema":"olm.bundle","name":"d1","package":"d","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"d","version":"1.0.0"}}]}`
		e    = `{"schema":"olm.package","name":"e","defaultChannel":"s"}{"schema":"olm.channel","name":"s","package":"e","entries":[{"name":"e1"}]}{"schema":"olm.bundle","name":"e1","package":"e","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"e","version":"1.0.0"}}]}`
		s1   = `{"schema":"olm.channel","name":"s","package":"a","entries":[{"name":"a1"}]}`
		s2   = `{"schema":"olm.channel","name":"s","package":"a","entries":[{"name":"a2","replaces":"a1"},{"name":"a1"}]}`
		t1   = `{"schema":"olm.channel","name":"t","package":"a","entries":[{"name":"a1"}]}`
		api  = `{"type":"olm.gvk","value":{"group":"g.io","version":"v1","kind":"K"}}`
		both = `{"type":"olm.constraint","value":{"all":{"constraints":[{"package":{"packageName":"d","versionRange":"1.0.0"}},{"package":{"packageName":"e","versionRange":"1.0.0"}}]}}}`
		one  = `{"type":"olm.constraint","value":{"all":{"constraints":[{"package":{"packageName":"d","versionRange":"1.0.0"}},{"package":{"packageName":"d","versionRange":">0.0.0"}}]}}}`
		bad  = `{"type":"olm.gvk.required","value":{"group":1}}`
	)
	bundle := func(version string, props ...string) string {
		props = append(props, `{"type":"olm.package","value":{"packageName":"a","version":"`+version+`.0.0"}}`)
		return `{"schema":"olm.bundle","name":"a` + version + `","package":"a","image":"q/x","properties":[` + strings.Join(props, ",") + `]}`
	}
	sub := resolver.Subscription{Name: "sub", Package: "a", Channel: "s", Catalog: "c", CatalogNamespace: "olm"}
	noChannel, noCatalog := sub, sub
	noChannel.Channel = ""
	noCatalog.Catalog, noCatalog.CatalogNamespace = "", ""
	var installed resolver.Installed
	if err := json.Unmarshal([]byte(`{"name":"x1","version":"1.0.0","properties":[`+api+`,`+api+`]}`), &installed); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, fbc string
		sub       resolver.Subscription
		more      string // a second catalog
		installed []resolver.Installed
		semantics resolver.Semantics
		rule      string
		text      string
	}{
		{name: "nothing odd", fbc: pkg + s2 + bundle("1") + bundle("2", api, one) + d, sub: sub},
		{name: "an API twice", fbc: pkg + s1 + bundle("1", api, api), sub: sub,
			rule: "H26", text: "OLM refuses a1, which conflicts with itself: it declares K (g.io/v1) twice, which counts as two bundles declaring it; remove the duplicate declaration (H26)"},
		{name: "an API twice, installed", fbc: pkg + s1 + bundle("1"), sub: sub, installed: []resolver.Installed{installed},
			rule: "H26", text: "OLM refuses x1, which conflicts with itself: "},
		{name: "an API twice, per bundle", fbc: pkg + s2 + bundle("2", api, api) + bundle("1"), sub: sub, semantics: resolver.PerBundle},
		{name: "left out", fbc: pkg + s2 + bundle("2", bad) + bundle("1"), sub: sub,
			rule: "H7", text: "OLM resolves nothing in the namespace until a2, which cannot be read, is corrected (H7)"},
		{name: "left out, per bundle", fbc: pkg + s2 + bundle("2", bad) + bundle("1"), sub: sub, semantics: resolver.PerBundle, rule: "H7"},
		{name: "no channel", fbc: pkg + s2 + t1 + bundle("2") + bundle("1"), sub: noChannel},
		{name: "no channel, one bundle in both", fbc: pkg + s1 + t1 + bundle("1"), sub: noChannel},
		{name: "no catalog", fbc: pkg + s1 + bundle("1"), more: pkg + s1 + bundle("1"), sub: noCatalog,
			rule: "H28", text: "subscription sub does not name a catalog: OLM combines the channels of c/olm and more/olm, which usually fails; name a catalog (H28)"},
		{name: "no catalog, only one has it", fbc: pkg + s1 + bundle("1"), more: d, sub: noCatalog},
		{name: "a constraint on two", fbc: pkg + s1 + bundle("1", both) + d + e, sub: sub,
			rule: "D6", text: "OLM refuses a1 because no single bundle satisfies its constraint "},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := resolver.Problem{Namespace: "ns", Subscriptions: []resolver.Subscription{c.sub}, Installed: c.installed}
			p.Options.Semantics = c.semantics
			p.Catalogs = []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: &c.fbc}}
			if c.more != "" {
				p.Catalogs = append(p.Catalogs, resolver.Catalog{Name: "more", Namespace: "olm", FBC: &c.more})
			}
			if err := p.Open(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			sol, err := resolver.Resolve(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if c.rule == "" {
				if len(sol.Differs) > 0 {
					t.Errorf("differs: %+v", sol.Differs)
				}
				return
			}
			if len(sol.Differs) != 1 || sol.Differs[0].Rule != c.rule {
				t.Fatalf("differs: %+v; want %s", sol.Differs, c.rule)
			}
			if !strings.HasPrefix(sol.Differs[0].String(), c.text) {
				t.Errorf("it reads %q", sol.Differs[0])
			}
		})
	}
}
