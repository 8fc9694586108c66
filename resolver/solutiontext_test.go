package resolver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// TestWarnings checks that each deprecation of a selected bundle is listed once, on a separate line (D12).
func TestWarnings(t *testing.T) {
	c, err := graph.LoadReader(t.Context(), strings.NewReader(`{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}
{"schema":"olm.deprecations","package":"a","entries":[{"reference":{"schema":"olm.package"},"message":"gone\nsoon"},{"reference":{"schema":"olm.channel","name":"c"},"message":"use d"},{"reference":{"schema":"olm.bundle","name":"a.v1.0.0"},"message":"old"}]}
`), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	sol, err := resolver.Resolve(t.Context(), resolver.Problem{
		Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "x", Namespace: "olm", Graph: c}},
		Subscriptions: []resolver.Subscription{{Package: "a"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"package a is deprecated: gone soon", "channel c of package a is deprecated: use d", "bundle a.v1.0.0 is deprecated: old"}
	if got := sol.Warnings(); !slices.Equal(got, want) {
		t.Errorf("Warnings() = %q, want %q", got, want)
	}
}

func TestStayString(t *testing.T) {
	for _, tt := range []struct {
		stay resolver.Stay
		want string
	}{
		{resolver.Stay{Reason: "at-head"}, "at the head of its channel"},
		{resolver.Stay{Reason: "present"}, "already installed, which satisfies a subscription without a catalog or channel"},
		{resolver.Stay{Reason: "no-successor"}, "no successor in its channel"},
		{resolver.Stay{Reason: "blocked", Blocked: []resolver.Ref{{Name: "a"}, {Name: "a"}, {Name: "b"}}}, "held back: a, b cannot be installed"},
	} {
		if got := tt.stay.String(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.stay.Reason, got, tt.want)
		}
	}
}
