package resolver_test

import (
	"context"
	"strconv"
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

// TestAssumedCatalog checks what a fix promises that adds a catalog with an API (D16, H40): all bundles
// that require the API can have it, whatever their package and however the requirement is nested.
func TestAssumedCatalog(t *testing.T) {
	api := text(property.TypeGVKRequired, `{"group":"g.io","version":"v1","kind":"B"}`)
	nested := text(property.TypeConstraint, `{"any":{"constraints":[{"any":{"constraints":[{"gvk":{"group":"g.io","version":"v1","kind":"B"}}]}}]}}`)
	either := text(property.TypeConstraint, `{"any":{"constraints":[{"gvk":{"group":"g.io","version":"v1","kind":"B"}},{"package":{"packageName":"z","versionRange":">1.0.0"}}]}}`)
	var docs []doc
	for _, pkg := range []string{"a", "d"} {
		docs = append(docs,
			doc{Schema: "olm.package", Name: pkg, DefaultChannel: "s"},
			doc{Schema: "olm.channel", Package: pkg, Name: "s", Entries: []docEntry{{Name: pkg + ".v1"}, {Name: pkg + ".v2", Replaces: pkg + ".v1"}, {Name: pkg + ".v3", Replaces: pkg + ".v2"}}})
		for i, requires := range [][]property.Property{nil, {api}, {nested}} {
			if pkg == "a" && i == 2 {
				requires[0] = either
			}
			version := strconv.Itoa(i + 1)
			docs = append(docs, doc{Schema: "olm.bundle", Package: pkg, Name: pkg + ".v" + version, Properties: append(requires, text(property.TypePackage, `{"packageName":%q,"version":%q}`, pkg, version+".0.0"))})
		}
	}
	fbc := render(docs)
	p := open(t, resolver.Problem{
		Catalogs:      []resolver.Catalog{{Name: "c", FBC: &fbc}},
		Subscriptions: []resolver.Subscription{{Package: "a"}, {Package: "d"}},
	})
	sol, err := resolver.Resolve(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	list, err := sol.AdviceWithFixes(context.Background())
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, a := range list {
		const want = "add a catalog that has API B (g.io/v1); then a.v3 and d.v3 are installed"
		if len(a.Fixes) == 0 || a.Fixes[0].String() != want {
			t.Errorf("%s: got %v, want %q first", a.Subscription, a.Fixes, want)
		}
	}
}
