package reconcile_test

import (
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
)

// F5, F6: one pass adds the APIs of all new members to their group, each checked against
// those added before it, so the number of passes does not grow with the members.
func TestGroupTakesAllMembers(t *testing.T) {
	const n = 20
	text := `
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: og, namespace: ops}
status: {namespaces: [""]}
`
	for i := range n {
		text += fmt.Sprintf(`---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a%d.v1, namespace: ops}
spec:
  version: 1.0.0
  install: {strategy: deployment}
  installModes: [{type: AllNamespaces, supported: true}]
  customresourcedefinitions: {owned: [{name: as.x%[1]d.io, version: v1, kind: A}]}
`, i)
	}
	s, err := reconcile.NewSnapshot(testNamespace, "olm", objects(t, []byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := reconcile.Decide(t.Context(), s, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range plan.Changes {
		if c.Object.Kind != olm.KindOperatorGroup || c.Op != reconcile.Update {
			continue
		}
		g, err := olm.As[olm.OperatorGroup](c.Object)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(operatorgroup.Annotated(g)); got != n {
			t.Errorf("the group lists %d APIs, want %d: %s", got, n, &c)
		}
		return
	}
	t.Error("the annotation of the group is not written")
}
