package resolver_test

import (
	"testing"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// TestUnavailableText checks the explanations of subscriptions without candidates.
func TestUnavailableText(t *testing.T) {
	channel := func(name string, entries ...docEntry) doc {
		return doc{Schema: "olm.channel", Package: "a", Name: name, Entries: entries}
	}
	fbc := render([]doc{
		{Schema: "olm.package", Name: "a", DefaultChannel: "s"},
		channel("s", docEntry{Name: "a1", Skips: []string{"a1"}}, docEntry{Name: "a2", Replaces: "a1"}),
		{Schema: "olm.bundle", Package: "a", Name: "a1", Properties: []property.Property{text(property.TypePackage, `{"packageName":"a","version":"1.0.0"}`)}},
		{Schema: "olm.bundle", Package: "a", Name: "a2", Properties: []property.Property{text(property.TypePackage, `{"packageName":"a","version":"2.0.0"}`)}},
		{Schema: "olm.package", Name: "b", DefaultChannel: "s"},
		{Schema: "olm.channel", Package: "b", Name: "s", Entries: []docEntry{{Name: "b1", Skips: []string{"b1"}}}},
		{Schema: "olm.bundle", Package: "b", Name: "b1", Properties: []property.Property{text(property.TypePackage, `{"packageName":"b","version":"1.0.0"}`)}},
	})
	for _, tt := range []struct {
		rule string
		resolver.Subscription
		want string
	}{
		{"H27", resolver.Subscription{Package: "a", StartingCSV: "a1"},
			"subscription a cannot be satisfied: its startingCSV a1 cannot be installed: it skips itself in channel s of package a"},
		{"H28", resolver.Subscription{Package: "a", Catalog: "c"},
			"subscription a cannot be satisfied: it names catalog c without its namespace; set both; available: c/olm"},
		{"H28", resolver.Subscription{Package: "a", Catalog: "d"},
			"subscription a cannot be satisfied: namespace ns sees no catalog named d; available: c/olm"},
		{"H28", resolver.Subscription{Package: "a", CatalogNamespace: "olm"},
			"subscription a cannot be satisfied: it names catalog namespace olm without a catalog; set both or neither; available: c/olm"},
		{"H5", resolver.Subscription{Package: "b"},
			"subscription b cannot be satisfied: channel s of package b is broken: has no head: every entry is replaced or skipped by another; remove the edges to the newest entry"},
	} {
		t.Run(tt.rule+" "+tt.want, func(t *testing.T) {
			no := conflictOf(t, open(t, resolver.Problem{
				Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: &fbc}},
				Subscriptions: []resolver.Subscription{tt.Subscription},
			}))
			if got := no.Cores[0].Facts[0].String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
