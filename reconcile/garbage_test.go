package reconcile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// E2: of the install plans that resolutions made, the five newest are kept, and those that
// are referred to or not yet executed.
func TestOldPlans(t *testing.T) {
	w := worldOf(t, "drift")
	undisturbed(t, w)
	ref := subscription(t, w, "example").Status.InstallPlanRef.Name
	for i := range 9 {
		phase, label := "Complete", "{olm.managed: \"true\"}"
		switch i {
		case 2:
			label = "{}" // a person wrote it
		case 3:
			phase = "RequiresApproval" // superseded
		case 4:
			phase = "Failed"
		}
		w.existing(t, fmt.Sprintf(`{apiVersion: operators.coreos.com/v1alpha1, kind: InstallPlan, metadata: {name: old-%d, namespace: ops, labels: %s}, spec: {clusterServiceVersionNames: [x], approval: Manual, approved: false, generation: %d}, status: {phase: %s, plan: [{resolving: x, status: Unknown, resource: {group: "", version: v1, kind: ConfigMap, name: x, manifest: "{}"}}]}}`, i, label, 2+i, phase))
	}
	undisturbed(t, w)
	var got []string
	for _, o := range w.List() {
		if o.Kind == olm.KindInstallPlan {
			got = append(got, o.Metadata.Name)
		}
	}
	want := []string{ref, "old-2", "old-4", "old-5", "old-6", "old-7", "old-8"}
	slices.Sort(want)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// F7: objects made for an operator stay while its group is undecided (there is none, or
// there are two), because they may be needed again. So does a role in the operator's
// namespace that its CSV does not list (any longer). Once the operator is gone, all of them
// are deleted.
func TestGarbageStays(t *testing.T) {
	const former = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: former, namespace: ops, labels: {olm.managed: "true", olm.owner: example.v0.1.1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: ops}}, rules: []}`
	for _, tt := range []struct {
		name string
		then func(*testing.T, *world)
	}{
		{"its group is gone", func(t *testing.T, w *world) {
			if err := w.Delete(key(olm.KindOperatorGroup, "ops/global")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a second group", func(t *testing.T, w *world) {
			w.existing(t, `{apiVersion: operators.coreos.com/v1, kind: OperatorGroup, metadata: {name: second, namespace: ops}, spec: {targetNamespaces: [ops]}}`)
		}},
		{"its group is new", func(t *testing.T, w *world) {
			g := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/global")
			g.Status = olm.OperatorGroupStatus{}
			w.put(t, g)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := worldOf(t, "drift")
			undisturbed(t, w)
			w.existing(t, former)
			roles := func() (names []string) {
				for _, o := range w.List() {
					if o.Key().Group == olm.GroupRBAC && o.Metadata.Labels["olm.owner"] == "example.v0.1.1" && !strings.Contains(o.Metadata.Name, "examples.example.com") {
						names = append(names, o.Key().String())
					}
				}
				return names
			}
			before := roles()
			if len(before) < 5 {
				t.Fatalf("there are only %v", before)
			}
			tt.then(t, w)
			step(t, w) // while it is undecided
			if diff := gocmp.Diff(before, roles()); diff != "" {
				t.Errorf("at once -before +after:\n%s", diff)
			}
			undisturbed(t, w)
			if diff := gocmp.Diff(before, roles()); diff != "" {
				t.Errorf("after another run (-before +after):\n%s", diff)
			}
			for _, k := range []olm.Key{key(olm.KindSubscription, "ops/example"), key(olm.KindClusterServiceVersion, "ops/example.v0.1.1")} {
				if err := w.Delete(k); err != nil {
					t.Fatal(err)
				}
			}
			undisturbed(t, w)
			if rest := roles(); len(rest) > 0 {
				t.Errorf("after the operator is gone: %v", rest)
			}
		})
	}
}

// F7, F8, E31: what OLM made in another namespace belongs to the copied CSV there, also where a
// snapshot lacks the copy, and is deleted with it.
func TestGarbageOfCopies(t *testing.T) {
	w := worldOf(t, "targets")
	undisturbed(t, w)
	place := key(olm.KindClusterServiceVersion, "tenant-a/example.v0.1.1")
	copied, err := w.Get(place)
	if err != nil {
		t.Fatal(err)
	}
	w.existing(t, fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: former, namespace: tenant-a,
		labels: {olm.copiedFrom: ops, olm.managed: "true", olm.owner: example.v0.1.1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: tenant-a, operators.coreos.com/example.ops: ""},
		ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: example.v0.1.1, uid: %s}]}, rules: []}`, copied.Metadata.UID))
	s, err := w.Read(t.Context(), "tenant-a")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		plan, err := reconcile.Decide(t.Context(), s, w.content, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(plan.Changes) > 0 {
			t.Errorf("the plan for the target has changes: %v", plan.Changes)
		}
		s.Objects = slices.DeleteFunc(slices.Clone(s.Objects), func(o olm.Object) bool { return o.Kind == olm.KindOperator })
		s.CSVs = slices.DeleteFunc(slices.Clone(s.CSVs), func(c *olm.ClusterServiceVersion) bool { return c.Key() == place })
	}
	g := get[olm.OperatorGroup](t, w.Cluster, olm.KindOperatorGroup, "ops/global")
	g.Spec.TargetNamespaces = []string{"tenant-b"}
	w.put(t, g)
	undisturbed(t, w)
	if _, err := w.Get(key("Role", "tenant-a/former")); err == nil {
		t.Error("the role is still there")
	}
}
