package rollout_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

// summary returns the writes of a rollout to revisions and objects.
func summary(writes []rollout.Write) (out []string) {
	for _, w := range writes {
		switch {
		case w.Op == rollout.SetStatus || w.Op == rollout.Migrate || w.Object != nil && w.Object.GetNamespace() == system:
		case w.Object != nil:
			out = append(out, fmt.Sprintf("%s %s for %s", w.Op, registryv1.Key(w.Object), w.Revision))
		default:
			out = append(out, fmt.Sprintf("%s %s", w.Op, w.Revision))
		}
	}
	return out
}

// A rehearsal makes the writes that the cluster then sees, and leaves the snapshot alone.
func TestRehearse(t *testing.T) { // K240
	for name, test := range map[string]struct {
		before, want string
		recorded     bool
		change       func(*cluster)
	}{
		"install":                  {want: first},
		"install, recorded":        {want: first, recorded: true},
		"upgrade":                  {before: first, want: second},
		"upgrade, recorded":        {before: first, want: second, recorded: true},
		"nothing":                  {before: first, want: first},
		"drift":                    {before: first, want: first, change: func(c *cluster) { delete(c.objects, "apps/v1/Deployment/ops/etcd") }},
		"deleted":                  {before: first, change: func(c *cluster) { c.extension.Deleting = true }},
		"deleted during a rollout": {before: first, want: "ConfigMap/b/1", change: func(c *cluster) { c.begin("ConfigMap/b/1"); c.extension.Deleting = true }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.recorded = test.recorded
			if test.before != "" {
				c.begin(test.before)
				c.settle()
			}
			if test.want != "" {
				c.target(test.want)
			}
			if test.change != nil {
				test.change(c)
			}
			s := c.snapshot()
			before := fmt.Sprintf("%+v", s)
			h, err := rollout.Rehearse(s, c.want)
			if err != nil {
				t.Fatal(err)
			}
			if after := fmt.Sprintf("%+v", s); after != before {
				t.Error("the snapshot was modified")
			}
			var got, want []rollout.Write
			for _, step := range h.Steps {
				got = append(got, step.Write)
			}
			for range 100 {
				writes := c.plan(c.snapshot())
				want = append(want, writes...)
				c.write(writes)
				if !c.kubelet() && len(writes) == 0 {
					break
				}
			}
			if d := cmp.Diff(summary(want), summary(got)); d != "" {
				t.Errorf("(-cluster +rehearsal)\n%s", d)
			}
			if len(h.Waits) > 0 {
				t.Errorf("waits for %+v", h.Waits)
			}
		})
	}
}

// A rehearsal reports what a rollout waits for. It continues after an object that is not ready,
// and not after a collision.
func TestRehearseWaits(t *testing.T) { // K240
	run := func(c *cluster) ([]string, []string) {
		h, err := rollout.Rehearse(c.snapshot(), c.want)
		if err != nil {
			t.Fatal(err)
		}
		var waits, created []string
		for _, x := range h.Waits {
			waits = append(waits, fmt.Sprintf("%s %s %s %t: %s", x.Revision, x.Phase, registryv1.Key(x.Object), x.Collides, x.Message))
		}
		for i, step := range h.Steps {
			if step.Op == rollout.Create && step.Object.GetNamespace() != system {
				text := step.Phase + " " + step.Object.GetName()
				if i >= h.Unblocked {
					text = "blocked " + text
				}
				created = append(created, text)
			}
		}
		return waits, created
	}

	c := newCluster(t)
	c.broken = true
	c.begin("Deployment/d/1 Other/o/1")
	c.settle()
	waits, created := run(c)
	if want := []string{`etcd-1 deploy apps/v1/Deployment/ops/d false: missing .status.conditions`}; !slices.Equal(waits, want) {
		t.Errorf("waits %q, want %q", waits, want)
	}
	if len(created) != 0 {
		t.Errorf("created %q", created)
	}

	c = newCluster(t)
	foreign := object("ConfigMap", "a", "theirs")
	foreign.SetUID("theirs")
	foreign.SetResourceVersion("1")
	yes := true
	foreign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "other", UID: "other", Controller: &yes}})
	c.objects[registryv1.Key(foreign)] = foreign
	c.target("ConfigMap/a/1 ConfigMap/b/1 Deployment/d/1")
	waits, created = run(c)
	if want := []string{"etcd-1 configuration v1/ConfigMap/ops/a true: it exists already, controlled by Deployment other"}; !slices.Equal(waits, want) {
		t.Errorf("waits %q, want %q", waits, want)
	}
	if want := []string{"configuration b", "blocked configuration a", "blocked deploy d"}; !slices.Equal(created, want) {
		t.Errorf("created %q, want %q", created, want)
	}
}

// A Secret of a bundle is not taken for one that holds objects of a revision, although it has
// the same owner.
func TestRehearseSecret(t *testing.T) { // K240
	c := newCluster(t)
	c.target("Secret/s/1")
	h, err := rollout.Rehearse(c.snapshot(), c.want)
	if err != nil {
		t.Fatal(err)
	}
	s := h.After
	secret := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "s", Labels: map[string]string{"olm.operatorframework.io/owner-name": "etcd"}}}
	s.Secrets = append(s.Secrets, secret)
	c.target("Secret/s/2")
	if h, err = rollout.Rehearse(s, c.want); err != nil {
		t.Fatal(err)
	}
	var applied []string
	for _, step := range h.Steps {
		if step.Op == rollout.Apply {
			applied = append(applied, step.Phase+" "+registryv1.Key(step.Object))
		}
	}
	if want := []string{"configuration v1/Secret/ops/s"}; !slices.Equal(applied, want) {
		t.Errorf("applied %q, want %q", applied, want)
	}
	if installed, _ := h.After.Installed(); installed == nil || installed.Number != 2 {
		t.Errorf("installed is %+v", installed)
	}
}

// Nothing of a phase is written if the API server rejects an object of it. The rehearsal goes on
// as if it did not.
func TestRehearseOn(t *testing.T) { // K88, K240
	c := newCluster(t)
	c.target("ConfigMap/a/1 ConfigMap/b/1 Deployment/d/1 Other/o/1")
	existing := map[string]int{}
	h, err := rollout.RehearseOn(c.snapshot(), c.want, func(o *unstructured.Unstructured, list []*unstructured.Unstructured) string {
		existing[o.GetName()] = len(list)
		if o.GetName() == "o" {
			return "not served"
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"a": 0, "b": 0, "d": 2, "o": 2}, existing); d != "" {
		t.Errorf("existing objects (-want +got)\n%s", d)
	}
	if len(h.Waits) != 1 || !h.Waits[0].Rejected || h.Waits[0].Phase != "deploy" || h.Waits[0].Object.GetName() != "o" || h.Waits[0].Message != "not served" {
		t.Errorf("waits for %+v", h.Waits)
	}
	if n := len(h.Reached.Objects); n != 2 {
		t.Errorf("%d objects are reached, want 2", n)
	}
	if n := len(h.After.Objects); n != 4 {
		t.Errorf("%d objects at the end, want 4", n)
	}
	for i, step := range h.Steps {
		if step.Phase == "deploy" != (i >= h.Unblocked) && step.Object != nil {
			t.Errorf("step %d of %d unblocked is %s in phase %q", i, h.Unblocked, step.Op, step.Phase)
		}
	}
}
