package view

import (
	"slices"
	"testing"

	"github.com/olmkit/olmkit/resolver"
)

// sharedLib has two packages that require a third.
const sharedLib = `{"schema":"olm.package","name":"a","defaultChannel":"c"}
{"schema":"olm.channel","package":"a","name":"c","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"lib","versionRange":">=1.0.0"}}]}
{"schema":"olm.package","name":"b","defaultChannel":"c"}
{"schema":"olm.channel","package":"b","name":"c","entries":[{"name":"b.v1.0.0"}]}
{"schema":"olm.bundle","package":"b","name":"b.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"b","version":"1.0.0"}},{"type":"olm.package.required","value":{"packageName":"lib","versionRange":">=1.0.0"}},{"type":"olm.gvk.required","value":{"group":"g","version":"v1","kind":"Lib"}}]}
{"schema":"olm.package","name":"lib","defaultChannel":"c"}
{"schema":"olm.channel","package":"lib","name":"c","entries":[{"name":"lib.v1.0.0"}]}
{"schema":"olm.bundle","package":"lib","name":"lib.v1.0.0","image":"i","properties":[{"type":"olm.package","value":{"packageName":"lib","version":"1.0.0"}},{"type":"olm.gvk","value":{"group":"g","version":"v1","kind":"Lib"}}]}
`

// TestEveryReasonIsDrawn checks that one line leads from each subscription to what it chose, and one from each bundle
// to each that it requires (D17).
func TestEveryReasonIsDrawn(t *testing.T) {
	c := load(t, sharedLib)
	for _, tt := range []struct {
		subscriptions []string
		want          []string
	}{
		{[]string{"a", "b"}, []string{
			"a requests a.v1.0.0", "b requests b.v1.0.0",
			"a.v1.0.0 requires package lib >=1.0.0 lib.v1.0.0",
			"b.v1.0.0 requires package lib >=1.0.0; API Lib (g/v1) lib.v1.0.0",
		}},
		{[]string{"a", "b", "lib"}, []string{
			"a requests a.v1.0.0", "b requests b.v1.0.0", "lib requests lib.v1.0.0",
			"a.v1.0.0 requires package lib >=1.0.0 lib.v1.0.0",
			"b.v1.0.0 requires package lib >=1.0.0; API Lib (g/v1) lib.v1.0.0",
		}},
	} {
		p := &resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "x", Namespace: "olm", Graph: c}}}
		for _, s := range tt.subscriptions {
			p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: s})
		}
		a, err := newAnswer(t.Context(), "case", p)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range a.Edges {
			got = append(got, a.Nodes[e.From].Name+" "+e.Text+" "+a.Nodes[e.To].Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v: lines %q, want %q", tt.subscriptions, got, tt.want)
		}
		for _, n := range a.Nodes {
			if n.Name == "lib.v1.0.0" && len(n.Also) != len(tt.subscriptions) {
				t.Errorf("%v: of lib it also says %q", tt.subscriptions, n.Also)
			}
		}
	}
}

// TestPartialAnswer checks that a partial plan is not shown as a solution, and that the conflict of the rest is shown.
func TestPartialAnswer(t *testing.T) {
	p := &resolver.Problem{
		Namespace: "operators", Catalogs: []resolver.Catalog{{Name: "sample", Namespace: "olm", Graph: loadSample(t)}},
		Subscriptions: []resolver.Subscription{{Package: "etcd", Channel: "stable"}, {Package: "etcd-backup-tool"}, {Package: "argocd"}},
		Options:       resolver.Options{Partial: true},
	}
	a, err := newAnswer(t.Context(), "case", p)
	if err != nil {
		t.Fatal(err)
	}
	if a.OK || !a.Partial || len(a.Cores) == 0 || len(a.Nodes) == 0 {
		t.Errorf("ok %v, partial %v, %d conflicts, %d nodes; want a part and a conflict", a.OK, a.Partial, len(a.Cores), len(a.Nodes))
	}
	p.Subscriptions = p.Subscriptions[2:]
	if a, err = newAnswer(t.Context(), "case", p); err != nil || !a.OK || a.Partial {
		t.Errorf("the complete plan has ok %v, partial %v, %v", a.OK, a.Partial, err)
	}
}

// TestDifferenceTellsOnce checks that a removed package is listed as removed, but not among the changed ones (B7).
func TestDifferenceTellsOnce(t *testing.T) {
	old, now := load(t, sharedLib), loadSample(t)
	d, err := newDiff(t.Context(), Catalog{Name: "old", Graph: old}, Catalog{Name: "new", Graph: now})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Packages) > 0 || !slices.Equal(d.PackagesRemoved, []string{"a", "b", "lib"}) || d.LostV1 != 0 && d.LostV1 != 3 {
		t.Errorf("removed %q, changed %v", d.PackagesRemoved, d.Packages)
	}
}

// TestDifferenceAdvises checks that a difference states what to do for versions that lose their path (G9).
func TestDifferenceAdvises(t *testing.T) {
	const bundles = `
{"schema": "olm.bundle", "package": "a", "name": "a.v1", "image": "i1", "properties": [{"type": "olm.package", "value": {"packageName": "a", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "a", "name": "a.v2", "image": "i2", "properties": [{"type": "olm.package", "value": {"packageName": "a", "version": "2.0.0"}}]}`
	old := load(t, `
{"schema": "olm.package", "name": "a", "defaultChannel": "s"}
{"schema": "olm.channel", "package": "a", "name": "s", "entries": [{"name": "a.v1"}, {"name": "a.v2", "replaces": "a.v1"}]}`+bundles)
	now := load(t, `
{"schema": "olm.package", "name": "a", "defaultChannel": "s"}
{"schema": "olm.channel", "package": "a", "name": "s", "entries": [{"name": "a.v2"}]}`+bundles)
	d, err := newDiff(t.Context(), Catalog{Name: "old", Graph: old}, Catalog{Name: "new", Graph: now})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a.v1 (1.0.0) in channel s: before the new catalog, let OLM upgrade to 2.0.0"}
	if len(d.Packages) != 1 || len(d.Packages[0].Classic) == 0 || !slices.Equal(d.Packages[0].Classic[0].Items, want) {
		t.Errorf("got %v", d.Packages)
	}
}
