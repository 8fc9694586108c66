package world

import (
	"testing"

	"github.com/olmkit/olmkit/olm"
)

func TestCovers(t *testing.T) {
	rule := func(verbs, groups, resources, names []string) olm.PolicyRule {
		return olm.PolicyRule{Verbs: verbs, APIGroups: groups, Resources: resources, ResourceNames: names}
	}
	l := func(s ...string) []string { return s }
	get := rule(l("get"), l(""), l("pods"), nil)
	for _, c := range []struct {
		name    string
		granted []olm.PolicyRule
		want    olm.PolicyRule
		ok      bool
	}{
		{"same", []olm.PolicyRule{get}, get, true},
		{"nothing granted", nil, get, false},
		{"nothing asked", nil, olm.PolicyRule{Verbs: l("get")}, true},
		{"wildcards", []olm.PolicyRule{rule(l("*"), l("*"), l("*"), nil)}, get, true},
		{"a wildcard is required", []olm.PolicyRule{get}, rule(l("*"), l(""), l("pods"), nil), false},
		{"by two rules together", []olm.PolicyRule{get, rule(l("list"), l(""), l("pods"), nil)}, rule(l("get", "list"), l(""), l("pods"), nil), true},
		{"not crosswise", []olm.PolicyRule{rule(l("get"), l("a"), l("x"), nil), rule(l("get"), l("b"), l("y"), nil)}, rule(l("get"), l("a", "b"), l("x", "y"), nil), false},
		{"one name granted, all required", []olm.PolicyRule{rule(l("get"), l(""), l("pods"), l("a"))}, get, false},
		{"all granted, one name required", []olm.PolicyRule{get}, rule(l("get"), l(""), l("pods"), l("a")), true},
		{"names", []olm.PolicyRule{rule(l("get"), l(""), l("pods"), l("a", "b"))}, rule(l("get"), l(""), l("pods"), l("b")), true},
		{"subresource", []olm.PolicyRule{get}, rule(l("get"), l(""), l("pods/log"), nil), false},
		{"subresource of any", []olm.PolicyRule{rule(l("get"), l(""), l("*/log"), nil)}, rule(l("get"), l(""), l("pods/log"), nil), true},
		{"url", []olm.PolicyRule{{Verbs: l("get"), NonResourceURLs: l("/healthz/*")}}, olm.PolicyRule{Verbs: l("get"), NonResourceURLs: l("/healthz/live")}, true},
		{"other url", []olm.PolicyRule{{Verbs: l("get"), NonResourceURLs: l("/healthz")}}, olm.PolicyRule{Verbs: l("get"), NonResourceURLs: l("/healthz/live")}, false},
	} {
		if got := Covers(c.granted, c.want); got != c.ok {
			t.Errorf("%s: covers = %v, want %v", c.name, got, c.ok)
		}
	}
}
