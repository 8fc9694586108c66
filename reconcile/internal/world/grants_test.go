package world

import (
	"encoding/json"
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
