package resolver_test

import (
	"context"
	"testing"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// TestSkippedElsewhere checks that a bundle that is skipped in one channel and offered in another
// counts for its own constraints in both (D5, H25): a.v2, which excludes every version from 2 on,
// is not installed.
func TestSkippedElsewhere(t *testing.T) {
	version := func(v string) property.Property {
		return text(property.TypePackage, `{"packageName":"a","version":%q}`, v)
	}
	fbc := render([]doc{
		{Schema: "olm.package", Name: "a", DefaultChannel: "s"},
		{Schema: "olm.channel", Package: "a", Name: "s", Entries: []docEntry{{Name: "a.v1"}, {Name: "a.v2", Replaces: "a.v1"}, {Name: "a.v3", Replaces: "a.v2"}}},
		{Schema: "olm.channel", Package: "a", Name: "t", Entries: []docEntry{{Name: "a.v1"}, {Name: "a.v2", Replaces: "a.v1"}, {Name: "a.v3", Replaces: "a.v1", Skips: []string{"a.v2"}}}},
		{Schema: "olm.bundle", Package: "a", Name: "a.v1", Properties: []property.Property{version("1.0.0")}},
		{Schema: "olm.bundle", Package: "a", Name: "a.v2", Properties: []property.Property{version("2.0.0"),
			text(property.TypeConstraint, `{"failureMessage":"m","not":{"constraints":[{"package":{"packageName":"a","versionRange":">=2.0.0"}}]}}`)}},
		{Schema: "olm.bundle", Package: "a", Name: "a.v3", Properties: []property.Property{version("3.0.0")}},
	})
	p := open(t, resolver.Problem{
		Catalogs:      []resolver.Catalog{{Name: "c", FBC: &fbc}},
		Subscriptions: []resolver.Subscription{{Package: "a", InstalledCSV: "a.v1"}},
		Installed:     []resolver.Installed{{Name: "a.v1", Version: "1.0.0", Package: "a", Properties: []property.Property{version("1.0.0")}}},
	})
	sol, err := resolver.Resolve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(sol.Selected) != 1 || sol.Selected[0].Name != "a.v3" || sol.Selected[0].Channel != "t" {
		t.Errorf("got %v, want a.v3 of channel t", sol.Selected)
	}
}
