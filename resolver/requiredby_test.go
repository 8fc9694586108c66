package resolver_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
)

const sharedLib = `{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"lib","versionRange":">=1.0.0"}},{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"Lib"}}]}
{"schema":"olm.package","name":"b","defaultChannel":"c"}
{"schema":"olm.channel","package":"b","name":"c","entries":[{"name":"b.v1.0.0"}]}
{"schema":"olm.bundle","package":"b","name":"b.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}},{"type":"olm.constraint","value":{"failureMessage":"m","any":{"constraints":[{"package":{"packageName":"lib","versionRange":">=1.0.0"}},{"package":{"packageName":"a","versionRange":">=1.0.0"}}]}}}]}
{"schema":"olm.package","name":"lib","defaultChannel":"c"}
{"schema":"olm.channel","package":"lib","name":"c","entries":[{"name":"lib.v1.0.0"}]}
{"schema":"olm.bundle","package":"lib","name":"lib.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"lib","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"Lib"}}]}
`

// TestRequiredBy checks that all requests for a bundle are reported, not only the first (D17).
func TestRequiredBy(t *testing.T) {
	c, err := graph.LoadReader(t.Context(), strings.NewReader(sharedLib), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	sol, err := resolver.Resolve(t.Context(), resolver.Problem{
		Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "x", Namespace: "olm", Graph: c}},
		Subscriptions: []resolver.Subscription{{Package: "a"}, {Package: "b"}, {Package: "lib"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		// Either bundle would satisfy b.
		"lib.v1.0.0": {
			"lib.v1.0.0 was chosen for subscription lib",
			"lib.v1.0.0 satisfies package lib >=1.0.0, required by a.v1.0.0",
			"lib.v1.0.0 satisfies API Lib (g/v1), required by a.v1.0.0",
			"lib.v1.0.0 satisfies one of (package lib >=1.0.0; package a >=1.0.0), required by b.v1.0.0",
		},
		"a.v1.0.0": {
			"a.v1.0.0 was chosen for subscription a",
			"a.v1.0.0 satisfies one of (package lib >=1.0.0; package a >=1.0.0), required by b.v1.0.0",
		},
	} {
		list, err := sol.RequiredBy(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range list {
			got = append(got, r.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("RequiredBy(%s) = %q, want %q", name, got, want)
		}
	}
	if _, err := sol.RequiredBy(t.Context(), "nowhere.v1"); err == nil {
		t.Error("no error for an unknown bundle")
	}
}

// TestRequiredByHasTheReasonOfWhy checks that RequiredBy includes the first reason of Why, and that a bundle without a
// request is an installed operator that stays (D17).
func TestRequiredByHasTheReasonOfWhy(t *testing.T) {
	bundles, several := 0, 0
	for seed := range uint64(600) {
		p := open(t, randomProblem(seed))
		sol, err := resolver.Resolve(t.Context(), p)
		if err != nil {
			continue
		}
		var names []string
		for _, s := range sol.Selected {
			names = append(names, s.Name)
		}
		for _, s := range sol.Stayed {
			if s.Reason != "present" { // the first reason of Why is that it is an orphan
				names = append(names, s.Name)
			}
		}
		for _, name := range names {
			chains, err := sol.Why(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			chain := chains[0].Reasons
			all, err := sol.RequiredBy(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			bundles++
			if len(all) > 1 {
				several++
			}
			if !slices.ContainsFunc(all, func(r resolver.Reason) bool { return r.String() == chain[0].String() }) {
				t.Errorf("seed %d: RequiredBy(%s) = %v lacks the reason of Why: %v", seed, name, all, chain[0])
			}
		}
	}
	if bundles < 200 || several < 20 {
		t.Errorf("%d bundles, %d with several reasons: too few to judge", bundles, several)
	}
}
