package resolver_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// TestUnowned checks that an operator without an owner is reported, with the field to set, in any order (D11).
func TestUnowned(t *testing.T) {
	p := resolver.Problem{
		Subscriptions: []resolver.Subscription{
			{Package: "etcd"}, {Name: "mine", Package: "vault"}, {Name: "other", Package: "vault"}, {Package: "argocd", InstalledCSV: "argocd.v1"}, {Package: "new"},
		},
		Installed: []resolver.Installed{
			{Name: "vault.v1", Properties: []property.Property{property.New(property.TypePackage, property.Package{PackageName: "vault", Version: "1.0.0"})}},
			{Name: "etcd.v0.9.0", Package: "etcd"},
			{Name: "argocd.v1", Package: "argocd"},
			{Name: "other.v1", Package: "other"},
		},
	}
	want := []resolver.Unowned{
		{Operator: "etcd.v0.9.0", Package: "etcd", Subscription: "etcd"},
		{Operator: "vault.v1", Package: "vault", Subscription: "mine"},
	}
	for range 2 {
		got := p.Unowned()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("unowned operators (-want +got):\n%s", diff)
		}
		const text = `the installed etcd.v0.9.0 belongs to no subscription and stays as it is; if it was installed for subscription etcd, set its InstalledCSV to "etcd.v0.9.0"`
		if got[0].String() != text {
			t.Errorf("got %q", got[0])
		}
		slices.Reverse(p.Installed)
		slices.Reverse(p.Subscriptions)
	}
	if got := new(resolver.Problem).Unowned(); got != nil {
		t.Errorf("got unowned operators %v of the zero problem, want none", got)
	}
}
