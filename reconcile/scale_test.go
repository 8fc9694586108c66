package reconcile_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// copied returns a settled cluster in which operators serve many namespaces (F8).
func copied(t testing.TB, namespaces, operators int) *memcluster.Cluster {
	t.Helper()
	var text strings.Builder
	for i := range operators {
		fmt.Fprintf(&text, "---\n"+`
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: op%d.v1, namespace: ops}
spec:
  version: 1.0.0
  description: %q
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
`, i, strings.Repeat("what it does ", 50))
	}
	for i := range namespaces {
		fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: Namespace, metadata: {name: ns%d}}\n", i)
	}
	c, _ := settle(t, nil, text.String())
	return c
}

// BenchmarkCopies plans a settled namespace whose operators are copied (F8): the time grows
// with the copies, no faster.
func BenchmarkCopies(b *testing.B) {
	for _, n := range []int{100, 200, 400} {
		b.Run(fmt.Sprintf("namespaces=%d", n), func(b *testing.B) {
			const operators = 20
			s, err := copied(b, n, operators).Read(b.Context(), testNamespace)
			if err != nil {
				b.Fatal(err)
			}
			if len(s.CSVs) != (n+1)*operators {
				b.Fatalf("%d CSVs, want %d", len(s.CSVs), (n+1)*operators)
			}
			decideAtRest(b, s)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n*operators), "ns/copy")
		})
	}
}

func decideAtRest(b *testing.B, s *reconcile.Snapshot) {
	for b.Loop() {
		plan, err := reconcile.Decide(b.Context(), s, nil, nil)
		if err != nil || len(plan.Changes) > 0 {
			b.Fatalf("not at rest: %v, %v", plan, err)
		}
	}
}

// chain returns a namespace with CSVs that replace each other, all of them Pending because
// a CRD is missing.
func chain(t testing.TB, n int) *memcluster.Cluster {
	t.Helper()
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "---\n"+`
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: a.v%d, namespace: ops}
spec:
  version: 1.0.%[1]d
  replaces: a.v%d
  installModes: [{type: AllNamespaces, supported: true}]
  customresourcedefinitions: {owned: [{name: as.x.io, version: v1, kind: A}]}
  install: {strategy: deployment, spec: {deployments: []}}
`, i+1, i)
	}
	c, _ := settle(t, nil, text.String())
	return c
}

// BenchmarkChain plans CSVs that replace each other and wait.
func BenchmarkChain(b *testing.B) {
	for _, n := range []int{30, 60, 120} {
		b.Run(fmt.Sprintf("csvs=%d", n), func(b *testing.B) {
			s, err := chain(b, n).Read(b.Context(), testNamespace)
			if err != nil {
				b.Fatal(err)
			}
			decideAtRest(b, s)
		})
	}
}

// A patient is a context that counts how often it is checked, and ends after a number of
// checks.
type patient struct {
	context.Context
	asked, end int
}

func (p *patient) Err() error {
	if p.asked++; p.end > 0 && p.asked > p.end {
		return context.Canceled
	}
	return nil
}

// Planning checks the context before each CSV and each copy (D18).
func TestDecideContext(t *testing.T) {
	const n = 40
	for name, c := range map[string]*memcluster.Cluster{"chain": chain(t, n), "copies": copied(t, n, 2)} {
		s, err := c.Read(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &patient{Context: t.Context()}
		if _, err := reconcile.Decide(ctx, s, nil, nil); err != nil {
			t.Fatal(err)
		}
		if ctx.asked < n {
			t.Errorf("%s: the context was checked %d times", name, ctx.asked)
		}
		ctx = &patient{Context: t.Context(), end: ctx.asked / 2}
		if _, err := reconcile.Decide(ctx, s, nil, nil); err == nil {
			t.Errorf("%s: a plan after the context ended", name)
		}
	}
}

// A copy with the content of the original is left alone, however its JSON is
// written; another is updated (F8).
func TestCopyFollows(t *testing.T) {
	c := copied(t, 1, 1)
	k := key(olm.KindClusterServiceVersion, "ns0/op0.v1")
	for _, edit := range []struct {
		name    string
		do      func(*olm.ClusterServiceVersion)
		changes int
	}{
		{"nothing", func(*olm.ClusterServiceVersion) {}, 0},
		{"an empty list", func(x *olm.ClusterServiceVersion) { x.Spec.Skips = []string{} }, 1},
		{"label", func(x *olm.ClusterServiceVersion) { x.Metadata.SetLabel("mine", "") }, 1},
		{"annotation", func(x *olm.ClusterServiceVersion) { x.Metadata.SetAnnotation("mine", "") }, 1},
		{"spec", func(x *olm.ClusterServiceVersion) { x.Spec.Version = "2.0.0" }, 1},
		{"status", func(x *olm.ClusterServiceVersion) { x.Status.Message = "" }, 1},
	} {
		d := c.Clone()
		o, err := d.Get(k)
		if err != nil {
			t.Fatal(err)
		}
		csv, err := olm.As[olm.ClusterServiceVersion](o)
		if err != nil {
			t.Fatal(err)
		}
		edit.do(csv)
		if err := d.Put(csv); err != nil {
			t.Fatal(err)
		}
		s, err := d.Read(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := reconcile.Decide(t.Context(), s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Changes) != edit.changes {
			t.Errorf("%s: changes %v, want %d", edit.name, plan.Changes, edit.changes)
		}
	}
}

// TestOtherNamespaces checks that the objects of other namespaces are read for a plan, but not
// decoded or copied one by one: a plan for each namespace of a cluster would then take quadratic
// time with a large factor.
func TestOtherNamespaces(t *testing.T) {
	const few, many = 10, 1010
	allocations := func(namespaces int) float64 {
		var text strings.Builder
		fmt.Fprintf(&text, `
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: op.v1, namespace: ops}
spec:
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment, spec: {permissions: [{serviceAccountName: op, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}], deployments: []}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: ops}}
`)
		for i := range namespaces {
			fmt.Fprintf(&text, `---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: other%[1]d, labels: {app: op}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: op, namespace: other%[1]d}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: op, namespace: other%[1]d}, roleRef: {kind: Role, name: op}, subjects: [{kind: ServiceAccount, name: op, namespace: other%[1]d}]}
---
{apiVersion: operators.coreos.com/v1, kind: Operator, metadata: {name: op.other%[1]d}}
`, i)
		}
		c, _ := settle(t, nil, text.String())
		return testing.AllocsPerRun(5, func() {
			s, err := c.Read(t.Context(), testNamespace)
			if err == nil {
				_, err = reconcile.Decide(t.Context(), s, nil, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	base, all := allocations(few), allocations(many)
	t.Logf("%.0f allocations among %d other namespaces, %.0f among %d", base, few, all, many)
	if perNamespace := (all - base) / (many - few); perNamespace > 0.2 {
		t.Errorf("%.1f allocations for each other namespace", perNamespace)
	}
}
