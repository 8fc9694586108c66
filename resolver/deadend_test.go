package resolver_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// H40: an operator that is steps away gets only as far as requirements can be satisfied, and one without a subscription
// gets nowhere.
func TestDeadEnd(t *testing.T) {
	const catalog = `
{"schema":"olm.package","name":"app","defaultChannel":"s"}
{"schema":"olm.channel","package":"app","name":"s","entries":[{"name":"app.v1"},{"name":"app.v2","replaces":"app.v1"},{"name":"app.v3","replaces":"app.v2"},{"name":"app.v4","replaces":"app.v3"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v2","properties":[{"type":"olm.package","value":{"packageName":"app","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v3","properties":[{"type":"olm.package","value":{"packageName":"app","version":"3.0.0"}},{"type":"olm.package.required","value":{"packageName":"db","versionRange":">=1.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v4","properties":[{"type":"olm.package","value":{"packageName":"app","version":"4.0.0"}}]}
`
	const db = `
{"schema":"olm.package","name":"db","defaultChannel":"s"}
{"schema":"olm.channel","package":"db","name":"s","entries":[{"name":"db.v1"}]}
{"schema":"olm.bundle","package":"db","name":"db.v1","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}}]}
`
	solve := func(text string, subscribed bool) *resolver.Solution {
		t.Helper()
		c, err := graph.LoadReader(t.Context(), strings.NewReader(text), "catalog.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		p := resolver.Problem{
			Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "ns", Graph: c}},
			Installed: []resolver.Installed{{Name: "app.v1", Package: "app", Version: "1.0.0"}},
		}
		if subscribed {
			p.Subscriptions = []resolver.Subscription{{Name: "app", Package: "app", Channel: "s", InstalledCSV: "app.v1"}}
		}
		s, err := resolver.Resolve(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	why := func(s *resolver.Solution, bundle string) string {
		t.Helper()
		list, err := s.WhyNot(t.Context(), bundle)
		if err != nil || len(list) != 1 {
			t.Fatalf("WhyNot: %v, %v", list, err)
		}
		return list[0].Text
	}
	const stops = "; but OLM stops at app.v2 (2.0.0), because app.v3 (3.0.0) requires package db >=1.0.0, which no bundle in any catalog satisfies"
	s := solve(catalog, true)
	list, err := s.Advice(t.Context())
	if err != nil || len(list) != 1 || list[0].DeadEnd == nil || !strings.HasSuffix(list[0].Text, stops) || list[0].DeadEnd.Bundle.Name != "app.v3" {
		t.Errorf("Advice: %+v, %v", list, err)
	}
	if got := why(s, "app.v4"); !strings.HasSuffix(got, stops) {
		t.Errorf("WhyNot of the head: %s", got)
	}
	if got := why(solve(catalog+db, true), "app.v4"); strings.Contains(got, "but") {
		t.Errorf("with the requirement satisfied: %s", got)
	}
	if got, want := why(solve(catalog, false), "app.v4"), "is not needed: the installed app.v1 has no subscription, so OLM does not upgrade it"; got != want {
		t.Errorf("without a subscription: %s, want %s", got, want)
	}
}

// H40: an outlook ends where a policy blocks an upgrade, also if the policy is about the operator that a later step leads
// to.
func TestPolicyAhead(t *testing.T) {
	c, err := graph.LoadReader(t.Context(), strings.NewReader(`
{"schema":"olm.package","name":"app","defaultChannel":"s"}
{"schema":"olm.channel","package":"app","name":"s","entries":[{"name":"app.v1"},{"name":"app.v2","replaces":"app.v1"},{"name":"app.v3","replaces":"app.v2"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v2","properties":[{"type":"olm.package","value":{"packageName":"app","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v3","properties":[{"type":"olm.package","value":{"packageName":"app","version":"3.0.0"}}]}
`), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	const stays = "; but it stays at app.v2 (2.0.0), because app.v3 (3.0.0) is blocked by a policy: "
	for _, tt := range []struct {
		policy resolver.Policy
		want   string
	}{
		{resolver.Policy{Package: "app", Exclude: ">=3.0.0"}, stays + ">=3.0.0 of package app is excluded"},
		{resolver.Policy{Package: "app", Exclude: ">=3.0.0", From: "2.0.0"}, stays + "the upgrade of package app from 2.0.0 to >=3.0.0 is excluded"},
		{resolver.Policy{Package: "app", Exclude: ">=3.0.0", From: "1.0.0"}, ""},
		{resolver.Policy{Package: "app", Exclude: ">=4.0.0"}, ""},
	} {
		s, err := resolver.Resolve(t.Context(), resolver.Problem{
			Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "ns", Graph: c}},
			Subscriptions: []resolver.Subscription{{Name: "app", Package: "app", Channel: "s", InstalledCSV: "app.v1"}},
			Installed:     []resolver.Installed{{Name: "app.v1", Package: "app", Version: "1.0.0"}},
			Policies:      []resolver.Policy{tt.policy},
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Advice(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("Advice: %+v, %v", list, err)
		}
		if (list[0].DeadEnd != nil) != (tt.want != "") || !strings.HasSuffix(list[0].Text, tt.want) || !strings.HasSuffix(list[0].Summary(), tt.want) {
			t.Errorf("%v: %s", tt.policy, list[0].Text)
		}
	}
}
