package reconcile_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile"
)

// F7, F8: the permissions of an operator in another namespace belong to its copy there, as in
// OLM, so they are deleted with the copy, even if OLM deletes it after a swap. While the
// targets of the group change, copies and permissions in the remaining targets stay.
func TestPermissionsGoWithCopy(t *testing.T) {
	w := worldOf(t, "targets")
	run := func() {
		t.Helper()
		if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
			t.Fatal(err)
		}
	}
	// granted returns the UIDs of the roles and bindings in a namespace.
	granted := func(ns string) (list []string) {
		for _, o := range w.List() {
			if o.Key().Group == olm.GroupRBAC && o.Metadata.Namespace == ns {
				list = append(list, o.Metadata.UID)
			}
		}
		return list
	}
	run()
	a, b := granted("tenant-a"), granted("tenant-b")
	if len(a) != 2 || len(b) != 2 {
		t.Fatalf("%d and %d roles and bindings in the targets, want 2 and 2", len(a), len(b))
	}
	copied := key(olm.KindClusterServiceVersion, "tenant-a/example.v0.1.1")
	if err := w.Delete(copied); err != nil {
		t.Fatal(err)
	}
	if left := granted("tenant-a"); len(left) > 0 {
		t.Errorf("%d roles and bindings are left after the copy was deleted", len(left))
	}
	run()
	if got := granted("tenant-a"); len(got) != 2 {
		t.Errorf("%d roles and bindings are restored with the copy, want 2", len(got))
	}
	g := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/global")
	g.Spec.TargetNamespaces = []string{"tenant-b"}
	w.put(t, g)
	run()
	if _, err := w.Get(copied); err == nil || len(granted("tenant-a")) > 0 {
		t.Error("the copy or its permissions are left in a namespace that is no longer a target")
	}
	if got := granted("tenant-b"); !slices.Equal(got, b) {
		t.Errorf("the permissions in the remaining target were recreated: UIDs %q, want %q", got, b)
	}
}

// F8, E12: an operator for all namespaces has a CSV with the name of the version that an
// operator of the namespace replaces. The upgrade goes on, and a copy of the other
// operator takes the place of the old version. The running OLM takes the copy for the
// predecessor and may wait for it forever.
func TestCopyTakesThePlaceOfPredecessor(t *testing.T) {
	w := worldOf(t, "upgrade-walk")
	const old = "example.v0.1.1"
	w.existing(t, `{apiVersion: v1, kind: Namespace, metadata: {name: glob}}`)
	w.existing(t, `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: all, namespace: glob}, spec: {}}`)
	w.existing(t, `{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: `+old+`, namespace: glob}, spec: {version: 0.1.1, installModes: [{type: AllNamespaces, supported: true}], install: {strategy: deployment, spec: {deployments: []}}}}`)
	g := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/global")
	g.Spec.TargetNamespaces = []string{testNamespace}
	w.put(t, g)
	run := func(ns string) {
		t.Helper()
		if _, err := w.loop().Run(t.Context(), ns); err != nil {
			t.Fatal(err)
		}
	}
	run(testNamespace)
	run("glob")
	w.catalog(t, "olm/community", "new.yaml")
	for unsettled := true; unsettled; {
		l := w.loop()
		l.MaxPasses = 1
		_, err := l.Run(t.Context(), testNamespace)
		if unsettled = errors.Is(err, reconcile.ErrUnsettled); err != nil && !unsettled {
			t.Fatal(err)
		}
		run("glob")
	}
	if o := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/"+old); operatorgroup.CopiedFrom(o) != "glob" {
		t.Errorf("%s is not a copy from namespace glob: %s, %s", old, o.Status.Phase, o.Status.Message)
	}
	sub := subscription(t, w, "example")
	next := get[olm.ClusterServiceVersion](t, w.Cluster, olm.KindClusterServiceVersion, "ops/"+sub.Status.InstalledCSV)
	if next.Metadata.Name != "example.v0.1.3" || next.Status.Phase != olm.PhaseSucceeded || sub.Status.State != olm.StateAtLatestKnown {
		t.Errorf("%s is %s: %s; the subscription is %s", next.Metadata.Name, next.Status.Phase, next.Status.Message, sub.Status.State)
	}
}
