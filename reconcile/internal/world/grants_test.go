package world

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/olm"
)

// TestGranted checks that bindings count for the accounts of a namespace, however JSON writes
// their subjects, and that others do not.
func TestGranted(t *testing.T) {
	role := `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]}`
	for subject, want := range map[string]int{
		`{"kind": "ServiceAccount", "name": "a", "namespace": "ops"}`:      1,
		`{"kind": "ServiceAccount", "name": "a", "namespace": "\u006fps"}`: 1,
		`{"kind": "User", "name": "system:serviceaccount:ops:a"}`:          1,
		`{"kind": "Group", "name": "system:serviceaccounts"}`:              1,
		`{"kind": "Group", "name": "\u0073ystem:authenticated"}`:           1,
		`{"kind": "ServiceAccount", "name": "a", "namespace": "other"}`:    0,
		`{"kind": "ServiceAccount", "name": "ops", "namespace": "other"}`:  0,
		`{"kind": "User", "name": "system:serviceaccount:other:a"}`:        0,
	} {
		binding := `{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [` + subject + `]}`
		s := State{Namespace: "ops"}
		for _, text := range []string{role, binding} {
			var o olm.Object
			if err := json.Unmarshal([]byte(text), &o); err != nil {
				t.Fatal(err)
			}
			s.Objects = append(s.Objects, o)
		}
		if got := New(s).Granted("a", ""); len(got) != want {
			t.Errorf("%s: %d rules, want %d", subject, len(got), want)
		}
	}
}

// TestCovers compares rules as the API server does, in bounded time.
func TestCovers(t *testing.T) {
	rule := func(text string) (r olm.PolicyRule) {
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	const many = 3000
	large := olm.PolicyRule{Verbs: []string{"get"}}
	for n := range many {
		large.APIGroups = append(large.APIGroups, fmt.Sprint("g", n))
		large.Resources = append(large.Resources, fmt.Sprint("r", n))
	}
	pods := rule(`{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}`)
	for _, tt := range []struct {
		granted []olm.PolicyRule
		want    olm.PolicyRule
		covered bool
	}{
		{[]olm.PolicyRule{pods, large}, large, true}, // there are nine million combinations
		{[]olm.PolicyRule{rule(`{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}`)}, large, true},
		{[]olm.PolicyRule{pods}, large, false},
		{[]olm.PolicyRule{rule(`{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}`)}, pods, false},
		{[]olm.PolicyRule{pods}, rule(`{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]}`), true},
		{[]olm.PolicyRule{pods, rule(`{"verbs": ["list"], "apiGroups": [""], "resources": ["pods"]}`)}, rule(`{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}`), true},
		{[]olm.PolicyRule{rule(`{"verbs": ["get"], "apiGroups": [""], "resources": ["*/status"]}`)}, rule(`{"verbs": ["get"], "apiGroups": [""], "resources": ["pods/status"]}`), true},
		{[]olm.PolicyRule{rule(`{"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]}`)}, rule(`{"verbs": ["get"], "nonResourceURLs": ["/healthz/a", "/readyz"]}`), false},
		{[]olm.PolicyRule{rule(`{"verbs": ["get"], "nonResourceURLs": ["/healthz/*"]}`)}, rule(`{"verbs": ["get"], "nonResourceURLs": ["/healthz/a"]}`), true},
	} {
		if got := Covers(tt.granted, tt.want); got != tt.covered {
			t.Errorf("%.100v by %.100v: %t, want %t", tt.want, tt.granted, got, tt.covered)
		}
	}
}
