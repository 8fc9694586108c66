package resolver_test

import (
	"context"
	"testing"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// TestChangesByValue checks that fixes do not depend on the spelling of names (D16): a slash
// in the name of a catalog, two policies with the same text.
func TestChangesByValue(t *testing.T) {
	has := func(pkg string) *string {
		text := render([]doc{
			{Schema: "olm.package", Name: pkg, DefaultChannel: "s"},
			{Schema: "olm.channel", Package: pkg, Name: "s", Entries: []docEntry{{Name: pkg + "1"}}},
			{Schema: "olm.bundle", Package: pkg, Name: pkg + "1", Properties: []property.Property{text(property.TypePackage, `{"packageName":%q,"version":"1.0.0"}`, pkg)}},
		})
		return &text
	}
	for _, tt := range []struct {
		name string
		p    resolver.Problem
		want string
	}{
		{"catalog with a slash", resolver.Problem{
			Catalogs:      []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: has("b")}, {Name: "d/e", Namespace: "olm", FBC: has("a")}},
			Subscriptions: []resolver.Subscription{{Package: "a", Catalog: "c", CatalogNamespace: "olm"}},
		}, "switch subscription a to catalog d/e/olm; then a1 is installed"},
		{"policies that read the same", resolver.Problem{
			Catalogs:      []resolver.Catalog{{Name: "c", Namespace: "olm", FBC: has("a")}},
			Subscriptions: []resolver.Subscription{{Package: "a"}},
			Policies:      []resolver.Policy{{Package: "a", Pin: "1.0.0 (why)"}, {Package: "a", Pin: "1.0.0", Reason: "why"}},
		}, "remove the policy: package a is pinned to 1.0.0 (why); then a1 is installed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fixes, err := conflictOf(t, open(t, tt.p)).Cores[0].Fixes(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range fixes {
				got = append(got, f.String())
				if f.String() == tt.want {
					return
				}
			}
			t.Errorf("got  %q\nwant %q", got, tt.want)
		})
	}
}
