package reconcile_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// groupAndSource is an operator group for all namespaces and a catalog source.
const groupAndSource = `
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: og, namespace: ops}
status: {namespaces: [""]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: c, namespace: olm}
---
`

// settle runs the loop on the objects of a YAML text and a processed operator group for all
// namespaces, and returns the cluster and the last plan.
func settle(t testing.TB, content reconcile.Content, text string) (*memcluster.Cluster, *reconcile.Plan) {
	t.Helper()
	c := &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: "v1.30.2", Controllers: true}
	const group = `
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: global, namespace: ops}
spec: {}
status: {namespaces: [""]}
---
apiVersion: v1
kind: Namespace
metadata: {name: ops}
---
`
	for _, o := range objects(t, []byte(group+text)) {
		if err := c.Put(&o); err != nil {
			t.Fatal(err)
		}
	}
	l := &reconcile.Loop{Cluster: c, Content: content, MaxPasses: 200}
	r, err := l.Run(t.Context(), testNamespace)
	if err != nil {
		t.Fatal(err)
	}
	return c, r.Plan
}

// get returns an object of the namespace.
func get[T any, P interface {
	*T
	olm.Resource
}](t *testing.T, c *memcluster.Cluster, kind, name string) *T {
	t.Helper()
	o, err := c.Get(key(kind, name))
	if err != nil {
		t.Fatal(err)
	}
	v, err := olm.As[T, P](o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// noted fails unless a note about an object contains a text.
func noted(t *testing.T, plan *reconcile.Plan, name, text string) {
	t.Helper()
	for _, n := range plan.Notes {
		if n.Object.Name == name && strings.Contains(n.Message, text) {
			return
		}
	}
	t.Errorf("no note about %s contains %q; the notes are %v", name, text, plan.Notes)
}
