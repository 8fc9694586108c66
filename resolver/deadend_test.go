package resolver_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testsize"
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
	const fix = "add a catalog that has package db >=1.0.0; then app.v3 is installed after app.v2"
	if list, err = s.AdviceWithFixes(t.Context()); err != nil || len(list) != 1 || len(list[0].Fixes) == 0 || list[0].Fixes[0].String() != fix || list[0].Fixes[0].After != "app.v2" {
		t.Errorf("AdviceWithFixes: %+v, %v", list, err)
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

// H40: an outlook ends where the channel of another subscription does not lead to what a later step requires, also
// if some catalog has it.
func TestDeadEndOfOthers(t *testing.T) {
	c, err := graph.LoadReader(t.Context(), strings.NewReader(`
{"schema":"olm.package","name":"app","defaultChannel":"s"}
{"schema":"olm.channel","package":"app","name":"s","entries":[{"name":"app.v1"},{"name":"app.v2","replaces":"app.v1"},{"name":"app.v3","replaces":"app.v2"},{"name":"app.v4","replaces":"app.v3"}]}
{"schema":"olm.bundle","package":"app","name":"app.v1","properties":[{"type":"olm.package","value":{"packageName":"app","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v2","properties":[{"type":"olm.package","value":{"packageName":"app","version":"2.0.0"}},{"type":"olm.package.required","value":{"packageName":"db","versionRange":">=2.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v3","properties":[{"type":"olm.package","value":{"packageName":"app","version":"3.0.0"}},{"type":"olm.package.required","value":{"packageName":"db","versionRange":">=3.0.0"}}]}
{"schema":"olm.bundle","package":"app","name":"app.v4","properties":[{"type":"olm.package","value":{"packageName":"app","version":"4.0.0"}}]}
{"schema":"olm.package","name":"db","defaultChannel":"s"}
{"schema":"olm.channel","package":"db","name":"s","entries":[{"name":"db.v1"},{"name":"db.v2","replaces":"db.v1"}]}
{"schema":"olm.channel","package":"db","name":"next","entries":[{"name":"db.v2","replaces":"db.v1"},{"name":"db.v3","replaces":"db.v2"}]}
{"schema":"olm.bundle","package":"db","name":"db.v1","properties":[{"type":"olm.package","value":{"packageName":"db","version":"1.0.0"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v2","properties":[{"type":"olm.package","value":{"packageName":"db","version":"2.0.0"}}]}
{"schema":"olm.bundle","package":"db","name":"db.v3","properties":[{"type":"olm.package","value":{"packageName":"db","version":"3.0.0"}}]}
`), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	for channel, want := range map[string]string{
		"s":    "; but OLM stops at app.v2 (2.0.0), because app.v3 requires package db >=3.0.0, and subscription db is in the way",
		"next": "",
	} {
		s, err := resolver.Resolve(t.Context(), resolver.Problem{
			Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "ns", Graph: c}},
			Subscriptions: []resolver.Subscription{{Package: "app", Channel: "s", InstalledCSV: "app.v1"}, {Package: "db", Channel: channel, InstalledCSV: "db.v1"}},
			Installed:     []resolver.Installed{{Name: "app.v1", Package: "app", Version: "1.0.0"}, {Name: "db.v1", Package: "db", Version: "1.0.0"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Advice(t.Context())
		if err != nil || len(list) == 0 || list[0].Package != "app" {
			t.Fatalf("%s: %v, %v", channel, list, err)
		}
		if a := list[0]; (a.DeadEnd != nil) != (want != "") || !strings.HasSuffix(a.Text, cmp.Or(want, "3.0.0 and 4.0.0")) {
			t.Errorf("channel %s: %s", channel, a)
		}
		why, err := s.WhyNot(t.Context(), "app.v4")
		if err != nil || len(why) != 1 || !strings.HasSuffix(why[0].Text, want) || strings.Contains(why[0].Text, "but") != (want != "") {
			t.Errorf("channel %s: %v, %v", channel, why, err)
		}
	}
}

// H40: where olmkit reports that OLM stops because of other operators, following one solution after another stops.
func TestDeadEndsAreReached(t *testing.T) {
	claims := 0
	for seed := range testsize.Of(500, 2000, 20000) {
		p := open(t, randomProblem(uint64(seed)))
		p.Options.Partial = false
		s, err := resolver.Resolve(t.Context(), p)
		if err != nil {
			continue
		}
		list, err := s.Advice(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(list, func(a resolver.Advice) bool { return a.DeadEnd != nil && a.DeadEnd.Because != "" }) {
			continue
		}
		for err == nil && len(s.Selected) > 0 {
			p = followed(p, s)
			var next *resolver.Solution
			if next, err = resolver.Resolve(t.Context(), p); err == nil {
				s = next
			}
		}
		for _, a := range list {
			if a.DeadEnd == nil || a.DeadEnd.Because == "" {
				continue
			}
			claims++
			if !slices.ContainsFunc(p.Installed, func(in resolver.Installed) bool { return in.Name == a.DeadEnd.At.Name }) {
				t.Errorf("seed %d: %s\nends with %v", seed, a, p.Installed)
			}
		}
	}
	if claims == 0 {
		t.Error("no operator is stopped by others")
	}
	t.Logf("%d operators are stopped by others", claims)
}

// followed returns a problem after its solution was installed.
func followed(p resolver.Problem, s *resolver.Solution) resolver.Problem {
	subs, installed := slices.Clone(p.Subscriptions), slices.Clone(p.Installed)
	for _, x := range s.Selected {
		installed = slices.DeleteFunc(installed, func(in resolver.Installed) bool { return in.Name == x.Replaces || in.Name == x.Name })
		owned := false
		for i := range subs {
			is := func(in resolver.Installed) bool { return in.Name == subs[i].InstalledCSV }
			fresh := !slices.ContainsFunc(p.Installed, is)
			if subs[i].InstalledCSV == x.Replaces && !fresh || fresh && subs[i].Package == x.Package {
				subs[i].InstalledCSV, owned = x.Name, true
			}
		}
		installed = append(installed, resolver.Installed{Name: x.Name, Version: x.Version, Package: x.Package, Properties: slices.Collect(x.Bundle.Properties())})
		if !owned {
			subs = append(subs, resolver.Subscription{Name: "dependency " + x.Name, Package: x.Package, Channel: x.Channel, Catalog: x.Catalog, CatalogNamespace: x.CatalogNamespace, InstalledCSV: x.Name})
		}
	}
	p.Subscriptions, p.Installed = subs, installed
	return p
}
