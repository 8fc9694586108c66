package rollout_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube/rollout"
)

// ops lists the writes to objects.
func ops(p *rollout.Plan) (out []string) {
	for _, w := range p.Writes {
		if w.Object != nil {
			out = append(out, fmt.Sprint(w.Revision, " ", w.Op, " ", w.Object.GetKind(), " ", w.Object.GetName()))
		}
	}
	return out
}

func (c *cluster) archive(name string) {
	r := c.revisions[name]
	r.Archived = true
	c.revisions[name] = r
}

func (c *cluster) wantOps(want ...string) {
	c.t.Helper()
	if got := ops(rollout.Decide(c.snapshot())); !slices.Equal(got, want) {
		c.t.Errorf("got %q, want %q", got, want)
	}
}

// The last phase goes first, and the others wait until it is gone.
func TestTeardown(t *testing.T) { // K94, K97
	c := newCluster(t)
	c.begin("ServiceAccount/etcd/1 Deployment/etcd/1")
	c.settle()
	c.want = nil
	c.archive("etcd-1")
	c.wantOps("etcd-1 delete Deployment etcd")
	now := metav1.NewTime(c.now)
	c.objects["apps/v1/Deployment/ops/etcd"].SetDeletionTimestamp(&now) // a finalizer holds it
	c.wantOps()
	if due := rollout.Decide(c.snapshot()).Due; !due.Equal(c.now.Add(5 * time.Second)) {
		t.Errorf("due %s", due)
	}
	c.settle()
	if got := c.message("etcd-1", rollout.Progressing); got != "Retrying: removing revision resources that are not owned by another revision" {
		t.Error(got)
	}
	delete(c.objects, "apps/v1/Deployment/ops/etcd")
	c.wantOps("etcd-1 delete ServiceAccount etcd")
	c.settle()
	if got := c.message("etcd-1", rollout.Progressing); got != "Archived: revision is archived" || c.revisions["etcd-1"].Finalizer || len(c.objects) != 0 {
		t.Error(got, c.state())
	}
}

// An object that the next revision has not adopted yet stays until then, although its
// revision is archived, and is then released.
func TestHandover(t *testing.T) { // K83, K84, K85, K94
	c := newCluster(t)
	c.begin("ConfigMap/x/1")
	c.settle()
	c.begin("ConfigMap/x/2")
	c.archive("etcd-1")
	c.wantOps() // the second revision has no finalizer yet
	if err := c.apply(rollout.Decide(c.snapshot()).Writes[1]); err != nil {
		t.Fatal(err)
	}
	c.wantOps("etcd-2 migrate ConfigMap x") // it was created, not applied
	p := rollout.Decide(c.snapshot())
	if err := c.apply(p.Writes[len(p.Writes)-2]); err != nil {
		t.Fatal(err)
	}
	p = rollout.Decide(c.snapshot())
	c.wantOps("etcd-2 apply ConfigMap x")
	o := p.Writes[len(p.Writes)-2].Object
	if ref := metav1.GetControllerOf(o); ref == nil || ref.Name != "etcd-2" || len(o.GetOwnerReferences()) != 2 || o.GetResourceVersion() == "" {
		t.Errorf("owners %v, version %q", o.GetOwnerReferences(), o.GetResourceVersion())
	}
	c.settle()
	if refs := c.objects["v1/ConfigMap/ops/x"].GetOwnerReferences(); len(refs) != 1 || refs[0].Name != "etcd-2" {
		t.Errorf("%v", refs)
	}
}

// A revision leaves alone what a later one has, and an object with its own number that it
// does not control collides.
func TestNumbers(t *testing.T) { // K83, K87, K99
	c := newCluster(t)
	c.begin("ConfigMap/x/1 Deployment/etcd/1")
	c.settle()
	c.broken = true
	c.begin("ConfigMap/x/2 Deployment/other/2")
	c.settle()
	if got := c.message("etcd-1", rollout.Progressing); got != "Succeeded: Revision 1.0.0 has rolled out." {
		t.Error(got)
	}
	if got := c.message("etcd-1", rollout.Succeeded); got != "Succeeded: Revision succeeded rolling out." {
		t.Error(got)
	}
	c.wantOps()
	for n, want := range map[string]string{"1": "Retrying", "0": "Succeeded"} {
		c := newCluster(t)
		o := object("ConfigMap", "x", "1")
		o.SetUID("u")
		o.SetAnnotations(map[string]string{"olm.operatorframework.io/revision": n})
		c.objects["v1/ConfigMap/ops/x"] = o
		c.begin("ConfigMap/x/1")
		r := c.revisions["etcd-1"]
		r.Collision = rollout.IfNoController
		c.revisions["etcd-1"] = r
		c.settle()
		if got := c.message("etcd-1", rollout.Progressing); got[:min(len(got), len(want))] != want {
			t.Errorf("revision %s: %s", n, got)
		}
	}
}

// An archived revision that can no longer be read, and that somebody deletes, is left to the
// garbage collector.
func TestUnreadable(t *testing.T) { // K94, K95
	c := newCluster(t)
	c.begin(first)
	c.settle()
	c.want = nil
	c.archive("etcd-1")
	r := c.revisions["etcd-1"]
	r.Unreadable = "progressionProbes, probe 1: invalid"
	c.revisions["etcd-1"] = r
	c.settle()
	if got := c.message("etcd-1", rollout.Progressing); got != "Retrying: progressionProbes, probe 1: invalid" || !c.revisions["etcd-1"].Finalizer {
		t.Error(got, c.state())
	}
	r = c.revisions["etcd-1"]
	r.Deleting = true
	c.revisions["etcd-1"] = r
	c.settle()
	if len(c.revisions) != 0 {
		t.Error(c.state())
	}
}

// The objects of an extension that is deleted without its dependents stay, without what its
// revisions have added, also if the garbage collector comes first.
func TestOrphan(t *testing.T) { // K94
	for _, recorded := range []bool{false, true} {
		for _, collected := range []bool{false, true} {
			c := newCluster(t)
			c.recorded = recorded
			c.begin("ServiceAccount/etcd/1 ConfigMap/x/1 Deployment/etcd/1")
			c.settle()
			for key, o := range c.objects {
				o = o.DeepCopy()
				if collected {
					o.SetOwnerReferences(nil)
				}
				labels := o.GetLabels()
				labels["mine"] = "x"
				o.SetLabels(labels)
				c.objects[key] = o
			}
			c.extension.Deleting = true
			r := c.revisions["etcd-1"]
			r.Orphan = true
			c.revisions["etcd-1"] = r
			c.want = nil
			h, err := rollout.Rehearse(c.snapshot(), nil)
			if err != nil || len(h.After.Objects) != 3 {
				t.Errorf("recorded %t, collected %t: %v, %d objects", recorded, collected, err, len(h.After.Objects))
			}
			c.settle()
			if c.extension.UID != "" || len(c.objects) != 3 {
				t.Errorf("recorded %t, collected %t: %s", recorded, collected, c.state())
			}
			for key, o := range c.objects {
				if refs := o.GetOwnerReferences(); len(refs) != 0 || len(o.GetAnnotations()) != 0 || !maps.Equal(o.GetLabels(), map[string]string{"mine": "x"}) {
					t.Errorf("recorded %t, collected %t, %s: %v", recorded, collected, key, o.Object["metadata"])
				}
			}
		}
	}
}
