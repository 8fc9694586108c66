package compare_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/resolver"
)

// TestEmptyChannel checks that OLM and olmkit treat a subscription without a channel alike: the default channel comes
// first, then the others by name (E1, H15). If several channels have the chosen bundle, OLM names any of them.
func TestEmptyChannel(t *testing.T) {
	const (
		two = `{"schema":"olm.package","name":"a","defaultChannel":"s"}
{"schema":"olm.channel","name":"r","package":"a","entries":[{"name":"a3","replaces":"a1"},{"name":"a1"}]}
{"schema":"olm.channel","name":"s","package":"a","entries":[{"name":"a2","replaces":"a1"},{"name":"a1"}]}
`
		open = `{"schema":"olm.bundle","name":"a1","package":"a","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.bundle","name":"a3","package":"a","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"a","version":"3.0.0"}}]}
{"schema":"olm.bundle","name":"a2","package":"a","image":"q/x","properties":[{"type":"olm.package","value":{"packageName":"a","version":"2.0.0"}}`
		free    = open + `]}`
		blocked = open + `,{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"K"}}]}`
	)
	for _, c := range []struct {
		name, fbc, channel, installed string
		want                          string
		olm                           []string // the set of OLM's answers
	}{
		{"fresh", two + free, "", "", "a2 in s", []string{"a2 in s"}},
		{"fresh, with the channel", two + free, "s", "", "a2 in s", []string{"a2 in s"}},
		{"fresh, the default channel blocked", two + blocked, "", "", "a1 in s", []string{"a1 in r", "a1 in s"}},
		{"upgrade", two + free, "", "a1", "a2 in s", []string{"a2 in s"}},
		{"upgrade, the default channel blocked", two + blocked, "", "a1", "a3 in r", []string{"a3 in r"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: &c.fbc}},
				Subscriptions: []resolver.Subscription{{Name: "a", Package: "a", Channel: c.channel, Catalog: "c", CatalogNamespace: "olm", InstalledCSV: c.installed}}}
			p.Options.Semantics = resolver.PerBundle
			if c.installed != "" {
				p.Installed = []resolver.Installed{{Name: c.installed, Version: "1.0.0", Package: "a"}}
			}
			s, err := snapshot(t.Context(), &p.Catalogs[0])
			if err != nil {
				t.Fatal(err)
			}
			sol, err := resolver.Resolve(t.Context(), p)
			if err != nil {
				t.Fatal(err)
			}
			if got := sol.Selected[0].Name + " in " + sol.Selected[0].Channel; len(sol.Selected) != 1 || got != c.want {
				t.Errorf("olmkit: %+v, want %s", sol.Selected, c.want)
			}
			q, err := peer.NewProblem(&p, []*cache.Snapshot{s})
			if err != nil {
				t.Fatal(err)
			}
			answers := map[string]bool{}
			for range 300 {
				list, err := q.Resolve()
				if err != nil || len(list) != 1 {
					t.Fatal(list, err)
				}
				answers[list[0].Name+" in "+list[0].Channel()] = true
			}
			if got := slices.Sorted(maps.Keys(answers)); !slices.Equal(got, c.olm) {
				t.Errorf("OLM: %q, want %q", got, c.olm)
			}
		})
	}
}
