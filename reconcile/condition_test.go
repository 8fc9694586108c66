package reconcile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

const conditionCSV = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: runner, namespace: ops}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: example.v1.0.0, namespace: ops, uid: csv}
spec:
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec:
      clusterPermissions: [{serviceAccountName: runner, rules: []}]
      permissions: [{serviceAccountName: runner, rules: []}]
      deployments:
      - name: example
        spec:
          selector: {matchLabels: {app: example}}
          template:
            metadata: {labels: {app: example}}
            spec:
              serviceAccountName: runner
              initContainers: [{name: prepare, image: example}]
              containers: [{name: manager, image: example}]
---
`

// E18: OLM's Role and RoleBinding permit an operator to use its OperatorCondition, whose
// name its containers have. They are restored if they are deleted, and deleted with the
// operator.
func TestConditionRights(t *testing.T) {
	c, _ := settle(t, nil, conditionCSV)
	const name = "ops/example.v1.0.0"
	condition := get[olm.OperatorCondition](t, c, olm.KindOperatorCondition, name)
	role := get[olm.Object](t, c, "Role", name)
	binding := get[olm.RoleBinding](t, c, "RoleBinding", name)
	want := `[{"verbs":["get","update","patch"],"apiGroups":["operators.coreos.com"],"resources":["operatorconditions"],"resourceNames":["example.v1.0.0"]}]`
	if got := role.Rest["rules"]; !olm.EqualJSON(got, []byte(want)) {
		t.Errorf("rules of the role: %s, want %s", got, want)
	}
	for _, h := range []olm.Header{role.Header, binding.Header} {
		o := h.Metadata.OwnerReferences
		if len(o) != 1 || o[0].UID != condition.Metadata.UID || !*o[0].Controller || *o[0].BlockOwnerDeletion {
			t.Errorf("owners of the %s: %+v", h.Kind, o)
		}
	}
	if s := binding.Subjects; len(s) != 2 || s[0].Name != "runner" || s[1].Name != "runner" || binding.RoleRef.Name != role.Metadata.Name {
		t.Errorf("binding: %+v to %+v", s, binding.RoleRef)
	}
	d := get[olm.Deployment](t, c, "Deployment", "ops/example")
	if n := strings.Count(string(d.Spec), "OPERATOR_CONDITION_NAME"); n != 1 {
		t.Errorf("%d containers have OPERATOR_CONDITION_NAME, want 1: %s", n, d.Spec)
	}
	role.Rest = role.Rest.With("rules", []byte(`[]`))
	if err := c.Put(role); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(binding.Key()); err != nil {
		t.Fatal(err)
	}
	if _, err := (&reconcile.Loop{Cluster: c, MaxPasses: 50}).Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if got := get[olm.Object](t, c, "Role", name).Rest["rules"]; !olm.EqualJSON(got, []byte(want)) {
		t.Errorf("rules of the restored role: %s", got)
	}
	get[olm.RoleBinding](t, c, "RoleBinding", name)
}

// E18: if a CSV is edited, its OperatorCondition lists the deployments and service accounts
// that it has now, and these accounts may use it. What the operator reported stays.
func TestConditionFollowsCSV(t *testing.T) {
	c, _ := settle(t, nil, conditionCSV)
	const name = "ops/example.v1.0.0"
	condition := get[olm.OperatorCondition](t, c, olm.KindOperatorCondition, name)
	condition.Spec.Conditions = []olm.Condition{{Type: "Upgradeable", Status: olm.ConditionTrue, Reason: "Idle"}}
	csv := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, name)
	csv.Spec.Install.Spec.Permissions[0].ServiceAccountName = "helper"
	csv.Spec.Install.Spec.Deployments[0].Name = "renamed"
	if err := c.Put(condition, csv, &olm.Object{Header: olm.Header{APIVersion: "v1", Kind: "ServiceAccount", Metadata: olm.Metadata{Name: "helper", Namespace: testNamespace}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := (&reconcile.Loop{Cluster: c, MaxPasses: 50}).Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	condition = get[olm.OperatorCondition](t, c, olm.KindOperatorCondition, name)
	if d, a := condition.Spec.Deployments, condition.Spec.ServiceAccounts; !slices.Equal(d, []string{"renamed"}) || !slices.Equal(a, []string{"runner", "helper"}) {
		t.Errorf("the condition lists deployments %q and accounts %q", d, a)
	}
	if s := condition.Status.Conditions; len(s) != 1 || s[0].Reason != "Idle" || s[0].ObservedGeneration != condition.Metadata.Generation {
		t.Errorf("the status is %+v at generation %d", s, condition.Metadata.Generation)
	}
	if s := get[olm.RoleBinding](t, c, "RoleBinding", name).Subjects; len(s) != 2 || s[1].Name != "helper" {
		t.Errorf("the binding is for %+v", s)
	}
}
