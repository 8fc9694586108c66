package resolver_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

// D16, H40: if a bundle of another package replaces an operator, its subscription can follow it there, and no operator has to be
// removed.
func TestRenamedPackage(t *testing.T) {
	c, err := graph.LoadReader(t.Context(), strings.NewReader(`
{"schema":"olm.package","name":"old","defaultChannel":"s"}
{"schema":"olm.channel","package":"old","name":"s","entries":[{"name":"old.v1"}]}
{"schema":"olm.bundle","package":"old","name":"old.v1","properties":[{"type":"olm.package","value":{"packageName":"old","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"A"}}]}
{"schema":"olm.deprecations","package":"old","entries":[{"reference":{"schema":"olm.package"},"message":"it is called new"}]}
{"schema":"olm.package","name":"new","defaultChannel":"main"}
{"schema":"olm.channel","package":"new","name":"main","entries":[{"name":"new.v1.1","replaces":"old.v1"},{"name":"new.v2","replaces":"new.v1.1"}]}
{"schema":"olm.channel","package":"new","name":"fast","entries":[{"name":"new.v1.1","replaces":"old.v1"}]}
{"schema":"olm.channel","package":"new","name":"other","entries":[{"name":"new.v2"}]}
{"schema":"olm.bundle","package":"new","name":"new.v1.1","properties":[{"type":"olm.package","value":{"packageName":"new","version":"1.1.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"A"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"B"}}]}
{"schema":"olm.bundle","package":"new","name":"new.v2","properties":[{"type":"olm.package","value":{"packageName":"new","version":"2.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"A"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"B"}}]}
{"schema":"olm.package","name":"user","defaultChannel":"s"}
{"schema":"olm.channel","package":"user","name":"s","entries":[{"name":"user.v1"}]}
{"schema":"olm.bundle","package":"user","name":"user.v1","properties":[{"type":"olm.package","value":{"packageName":"user","version":"1.0.0"}},{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"B"}}]}
`), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	solve := func(others ...resolver.Subscription) (resolver.Problem, *resolver.Solution, error) {
		p := resolver.Problem{
			Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "c", Namespace: "ns", Graph: c}},
			Subscriptions: append(others, resolver.Subscription{Name: "mine", Package: "old", Channel: "s", InstalledCSV: "old.v1"}),
			Installed:     []resolver.Installed{{Name: "old.v1", Package: "old", Version: "1.0.0", Properties: nil}},
		}
		b, _ := c.Package("old")
		for x := range b.Bundles() {
			for q := range x.Properties() {
				p.Installed[0].Properties = append(p.Installed[0].Properties, q)
			}
		}
		s, err := resolver.Resolve(t.Context(), p)
		return p, s, err
	}
	const follow = `kubectl patch subscription.operators.coreos.com mine -n ns --type merge --patch '{"spec":{"channel":"main","name":"new"}}'`
	check := func(p resolver.Problem, f *resolver.Fix, want string, commands int) {
		t.Helper()
		if got := f.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if n := len(f.Commands); n != commands || f.Commands[n-1] != follow {
			t.Errorf("commands %q", f.Commands)
		}
		next, _ := afterChanges(t, p, f.Changes)
		if s, err := resolver.Resolve(t.Context(), next); err != nil || len(s.Selected) == 0 || s.Selected[0].Name != "new.v1.1" || s.Selected[0].Replaces != "old.v1" {
			t.Errorf("%s leads to %+v, %v", f, s, err)
		}
	}
	const change = "set the package of subscription mine to new, which continues it under another name, and its channel to main; then "
	for sub, want := range map[string]string{
		"new":  "delete subscription new, and " + change + "new.v1.1 is installed",
		"user": change + "new.v1.1 and user.v1 are installed",
	} {
		var no *resolver.Conflict
		p, _, err := solve(resolver.Subscription{Name: sub, Package: sub})
		if !errors.As(err, &no) || len(no.Cores) != 1 {
			t.Fatalf("%s: %v", sub, err)
		}
		list, err := no.Cores[0].Fixes(t.Context(), 0)
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v, %v", sub, list, err)
		}
		check(p, list[0], want, strings.Count(want, "subscription"))
	}
	p, s, err := solve()
	if err != nil {
		t.Fatal(err)
	}
	why, err := s.WhyNot(t.Context(), "new.v2")
	if err != nil || len(why) != 2 {
		t.Fatal(why, err)
	}
	w := why[1]
	if w.Bundle.Channel != "main" {
		w = why[0]
	}
	if want := "new.v2 (c/ns, channel main) is in package new, whose new.v1.1 replaces the installed old.v1, but subscription mine requests package old"; w.String() != want || len(w.Fixes) != 1 {
		t.Fatalf("%s, want %s, with a fix", w, want)
	}
	check(p, w.Fixes[0], change+"new.v1.1 is installed; afterwards, OLM upgrades it to new.v2 on its own, in 1 more step, unless installPlanApproval is Manual", 1)
	if got := s.Warnings(); len(got) != 1 || got[0] != "package old is deprecated: it is called new" {
		t.Errorf("Warnings: %q", got)
	}
}
