package rollout_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/rollout"
)

const (
	first  = "ServiceAccount/etcd/1 ConfigMap/old/1 Deployment/etcd/1 Deployment/extra/1"
	second = "ServiceAccount/etcd/1 ConfigMap/new/1 Deployment/etcd/2"

	upgraded = `apps/v1/Deployment/ops/etcd by etcd-2
etcd-1 Progressing=False/Archived Available=Unknown/Archived Succeeded=True/Succeeded
etcd-2 Progressing=True/Succeeded Available=True/ProbesSucceeded Succeeded=True/Succeeded
v1/ConfigMap/ops/new by etcd-2
v1/ServiceAccount/ops/etcd by etcd-2`
)

func (c *cluster) expect(want string) {
	c.t.Helper()
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(c.state(), "\n")); diff != "" {
		c.t.Errorf("(-want +got):\n%s", diff)
	}
}

func (c *cluster) message(revision, typ string) string {
	if x := meta.FindStatusCondition(c.revisions[revision].Conditions, typ); x != nil {
		return x.Reason + ": " + x.Message
	}
	return "none"
}

// A second revision adopts the objects of the first, which is archived and keeps nothing.
func TestUpgrade(t *testing.T) { // K71, K72, K83, K93, K94
	c := newCluster(t)
	c.begin(first)
	c.settle()
	c.begin(first) // the same again
	c.settle()
	c.begin(second)
	c.settle()
	c.expect(upgraded)
}

// The order of a snapshot does not matter, and Decide does not modify it.
func TestOrder(t *testing.T) {
	c := newCluster(t)
	c.begin(first)
	c.settle()
	c.begin(second)
	a, b := c.snapshot(), c.snapshot()
	slices.Reverse(b.Objects)
	slices.Reverse(b.Revisions)
	c.version++ // snapshots share nothing with the cluster
	if x, y := rollout.Decide(a), rollout.Decide(b); !reflect.DeepEqual(x, y) {
		t.Errorf("(-a +b):\n%s", cmp.Diff(x, y))
	}
}

// A failed upgrade leaves both revisions active, until the deadline and after it. A later
// success counts.
func TestDeadline(t *testing.T) { // K92, K96, K98
	c := newCluster(t)
	c.begin(first)
	c.settle()
	c.broken = true
	c.begin("ServiceAccount/etcd/1 Deployment/other/1")
	c.settle()
	const failure = `ProbeFailure: Object Deployment.apps/v1 ops/other: missing .status.conditions`
	if got := c.message("etcd-2", rollout.Available); got != failure {
		t.Errorf("%s; want %s", got, failure)
	}
	if got := rollout.Decide(c.snapshot()).Due; !got.Equal(start.Add(10 * time.Minute)) {
		t.Errorf("due at %s", got)
	}
	c.now = start.Add(10 * time.Minute)
	c.settle()
	if got, want := c.message("etcd-2", rollout.Progressing), "ProgressDeadlineExceeded: Revision has not rolled out for 10 minute(s). Last status: Revision 1.0.0 is rolling out."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if c.revisions["etcd-1"].Archived {
		t.Error("the first revision is archived")
	}
	c.broken = false
	c.settle()
	if got, want := c.message("etcd-2", rollout.Progressing), "Succeeded: Revision 1.0.0 has rolled out."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An object that exists already is adopted only as the collision protection allows.
func TestCollision(t *testing.T) { // K81, K83
	for _, test := range []struct {
		protection rollout.Collision
		controlled bool
		adopted    bool
	}{
		{rollout.Prevent, false, false}, {rollout.IfNoController, false, true}, {rollout.None, false, true},
		{rollout.Prevent, true, false}, {rollout.IfNoController, true, false}, {rollout.None, true, true},
	} {
		c := newCluster(t)
		o := object("ConfigMap", "old", "0")
		if test.controlled {
			yes := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "x", "uid": "x", "controller": true}
			o.Object["metadata"].(map[string]any)["ownerReferences"] = []any{yes}
		}
		o.SetUID("u")
		c.objects["v1/ConfigMap/ops/old"] = o
		c.begin("ConfigMap/old/1")
		r := c.revisions["etcd-1"]
		r.Collision = test.protection
		c.revisions["etcd-1"] = r
		c.settle()
		got := c.message("etcd-1", rollout.Progressing)
		if strings.HasPrefix(got, "Succeeded") != test.adopted {
			t.Errorf("%+v: %s", test, got)
		}
		if !test.adopted && !strings.HasPrefix(got, "Retrying: revision object collisions in phase 0\nObject ConfigMap.v1 ops/old exists already, ") {
			t.Errorf("%+v: %s", test, got)
		}
		delete(c.objects, "v1/ConfigMap/ops/old") // somebody removes it
		c.settle()
		if got := c.message("etcd-1", rollout.Available); got != "ProbesSucceeded: Objects are available and pass all probes." {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// Fields of others stay, and ours are restored.
func TestDrift(t *testing.T) { // K86
	c := newCluster(t)
	c.begin(first)
	c.settle()
	o := c.objects["v1/ConfigMap/ops/old"].DeepCopy()
	c.objects["v1/ConfigMap/ops/old"] = o
	ours := o.GetManagedFields()
	o.SetLabels(map[string]string{"theirs": "yes", "app.kubernetes.io/managed-by": "olm.operatorframework.io"})
	o.Object["data"] = "theirs"
	o.SetManagedFields(append(ours, metav1.ManagedFieldsEntry{Manager: "theirs", Operation: "Update", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`)}))
	if p := rollout.Decide(c.snapshot()); len(p.Writes) != 0 {
		t.Errorf("reverts fields of others: %v", p.Writes)
	}
	o.Object["spec"] = map[string]any{"content": "changed"}
	ours[0].FieldsV1 = metav1.NewFieldsV1(strings.Replace(ours[0].FieldsV1.GetRawString(), `,"f:spec":{"f:content":{}}`, "", 1))
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "theirs", Operation: "Update", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}, ours[0]})
	c.wantOps("etcd-1 migrate ConfigMap old")
	c.settle()
	if got := c.objects["v1/ConfigMap/ops/old"].Object["spec"]; !reflect.DeepEqual(got, map[string]any{"content": "1"}) {
		t.Errorf("does not revert a change: %v", got)
	}
	delete(c.objects, "v1/ConfigMap/ops/old")
	c.settle()
	if c.objects["v1/ConfigMap/ops/old"] == nil {
		t.Error("does not recreate an object")
	}
}

// An active revision that is deleted loses its finalizer; its objects are left to the garbage
// collector.
func TestDeleted(t *testing.T) { // K95
	c := newCluster(t)
	c.begin(first)
	c.settle()
	c.want = nil
	if err := c.apply(rollout.Write{Op: rollout.DeleteRevision, Revision: "etcd-1", Version: c.revisions["etcd-1"].ResourceVersion}); err != nil {
		t.Fatal(err)
	}
	c.settle()
	if len(c.revisions) != 0 || len(c.objects) != 4 {
		t.Error(c.state())
	}
}

// A revision that is deleted is not archived by its successor.
func TestDeletedPredecessor(t *testing.T) { // K93, K95
	c := newCluster(t)
	c.begin(first)
	c.settle()
	c.begin(second)
	for range 20 {
		plan := rollout.Decide(c.snapshot())
		isArchive := func(w rollout.Write) bool { return w.Op == rollout.Archive }
		if !slices.ContainsFunc(plan.Writes, isArchive) {
			c.write(plan.Writes)
			continue
		}
		s := c.snapshot()
		for i := range s.Revisions {
			s.Revisions[i].Deleting = s.Revisions[i].Deleting || s.Revisions[i].Name == "etcd-1"
		}
		if plan := rollout.Decide(s); slices.ContainsFunc(plan.Writes, isArchive) {
			t.Errorf("writes %+v", plan.Writes)
		}
		return
	}
	t.Error("the first revision is not archived")
}

// Archived revisions are deleted, except among the last five.
func TestOldRevisions(t *testing.T) { // K72
	c := newCluster(t)
	for _, content := range strings.Split("1234567", "") {
		c.begin("ConfigMap/x/" + content)
		c.settle()
	}
	var got []string
	for name := range c.revisions {
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"etcd-2", "etcd-3", "etcd-4", "etcd-5", "etcd-6", "etcd-7"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// An old revision is only deleted if it is archived.
func TestOldActiveRevision(t *testing.T) { // K72
	c := newCluster(t)
	for _, content := range strings.Split("1234567", "") {
		c.begin("ConfigMap/x/" + content)
		c.settle()
	}
	c.target("ConfigMap/x/8")
	for _, archived := range []bool{true, false} {
		r := c.revisions["etcd-2"]
		r.Archived = archived
		c.revisions["etcd-2"] = r
		writes, err := rollout.Next(c.snapshot(), *c.want)
		if err != nil {
			t.Fatal(err)
		}
		deleted := slices.ContainsFunc(writes, func(w rollout.Write) bool { return w.Op == rollout.DeleteRevision && w.Revision == "etcd-2" })
		if deleted != archived {
			t.Errorf("archived %t, deleted %t", archived, deleted)
		}
	}
}

// An object that another active revision controls collides if it has the number of this one.
func TestSameNumber(t *testing.T) { // K83
	for _, test := range []struct {
		number   string
		collides bool
	}{{"1", false}, {"2", true}, {"3", false}} {
		c := newCluster(t)
		c.begin("ConfigMap/x/1")
		c.settle()
		c.begin("ConfigMap/x/2")
		r := c.revisions["etcd-2"]
		r.Finalizer = true
		c.revisions["etcd-2"] = r
		o := c.objects["v1/ConfigMap/ops/x"]
		annotations := o.GetAnnotations()
		annotations["olm.operatorframework.io/revision"] = test.number
		o.SetAnnotations(annotations)
		p := rollout.Decide(c.snapshot())
		collides := slices.ContainsFunc(p.Waits, func(w rollout.Wait) bool { return w.Revision == "etcd-2" && w.Collides })
		adopted := slices.ContainsFunc(p.Writes, func(w rollout.Write) bool {
			return w.Revision == "etcd-2" && (w.Op == rollout.Apply || w.Op == rollout.Migrate)
		})
		if collides != test.collides || adopted == test.collides {
			t.Errorf("number %s: collides %t, adopted %t", test.number, collides, adopted)
		}
	}
}

// The protection of an object takes precedence over that of its revision, and decides whether
// the revision adopts what exists.
func TestProtection(t *testing.T) { // K81, K83
	for _, test := range []struct {
		revision, object rollout.Collision
		controller       string // of the existing object
		want             string
	}{
		{rollout.Prevent, "", "", "Retrying: revision object collisions in phase 0\nObject ConfigMap.v1 ops/x exists already, without a controller"},
		{rollout.Prevent, rollout.IfNoController, "", "Succeeded: Revision 1.0.0 has rolled out."},
		{rollout.Prevent, rollout.IfNoController, "someone", "Retrying: revision object collisions in phase 0\nObject ConfigMap.v1 ops/x exists already, controlled by Other someone"},
		{rollout.Prevent, rollout.None, "someone", "Succeeded: Revision 1.0.0 has rolled out."},
		{rollout.None, "", "someone", "Succeeded: Revision 1.0.0 has rolled out."},
		{rollout.None, rollout.Prevent, "", "Retrying: revision object collisions in phase 0\nObject ConfigMap.v1 ops/x exists already, without a controller"},
	} {
		c := newCluster(t)
		o := object("ConfigMap", "x", "user")
		o.SetUID("theirs")
		o.SetResourceVersion("1")
		if test.controller != "" {
			yes := true
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Other", Name: test.controller, UID: "other", Controller: &yes}})
		}
		c.objects["v1/ConfigMap/ops/x"] = o
		c.begin("ConfigMap/x/1")
		r := c.revisions["etcd-1"]
		r.Collision, r.Collisions = test.revision, [][]rollout.Collision{{test.object}}
		c.revisions["etcd-1"] = r
		c.settle()
		if got := c.message("etcd-1", rollout.Progressing); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
		if got, _, _ := unstructured.NestedString(c.objects["v1/ConfigMap/ops/x"].Object, "spec", "content"); (got == "1") != strings.HasPrefix(test.want, "Succeeded") {
			t.Errorf("%+v: content %s", test, got)
		}
	}
}

// The fields of an object are migrated before anything else of its phase is written, so that all
// writes of the phase can be tried together.
func TestMigratedFirst(t *testing.T) { // K85, K88
	c := newCluster(t)
	c.begin("Deployment/etcd/1 Deployment/extra/1")
	c.settle()
	live := c.objects["apps/v1/Deployment/ops/etcd"].DeepCopy()
	delete(live.Object, "spec")
	live.SetManagedFields(managed("Update", live)) // somebody else has the specification
	c.objects["apps/v1/Deployment/ops/etcd"] = live
	delete(c.objects, "apps/v1/Deployment/ops/extra")
	c.wantOps("etcd-1 migrate Deployment etcd")
	c.write(rollout.Decide(c.snapshot()).Writes)
	c.wantOps("etcd-1 apply Deployment etcd", "etcd-1 create Deployment extra")
}
