package rollout_test

import (
	"math/rand/v2"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/rollout"
)

// The controller is killed after each write, reads old states, each kind of another age, and runs
// twice. The result is that of an undisturbed run. In a third of the cases the extension is
// deleted on the way, in half of these without its dependents.
func TestFaults(t *testing.T) { // K72, K76, K93, K94, K103
	for seed := range testsize.Of[uint64](200, 500, 2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := newCluster(t)
		c.recorded = r.IntN(2) == 0
		deleted, orphans := r.IntN(300), r.IntN(2) == 0
		var kept []string
		for n, text := range []string{first, second} {
			c.target(text)
			old := []*rollout.Snapshot{c.snapshot()}
			for i := range 50 {
				if n*50+i == deleted {
					c.extension.Deleting, c.extension.ResourceVersion = true, c.next()
					if orphans && c.extension.Finalizer {
						c.orphaning, kept = true, c.active()
					}
					c.collect()
				}
				c.interleave(r, c.plan(mixed(r, old)), c.plan(c.snapshot()))
				if r.IntN(3) == 0 {
					c.kubelet()
				}
				if r.IntN(3) == 0 {
					c.orphan()
				}
				old = append(old, c.snapshot())
			}
			c.settle()
		}
		switch {
		case !c.extension.Deleting:
			c.expect(upgraded)
		case kept == nil:
			c.expect("")
			fallthrough
		default:
			if len(c.secrets)+len(c.revisions) > 0 {
				t.Errorf("%d Secrets are left: %s", len(c.secrets), c.state())
			}
			for _, key := range kept {
				if o := c.objects[key]; o == nil || len(o.GetOwnerReferences())+len(o.GetLabels())+len(o.GetAnnotations()) > 0 {
					t.Errorf("%s is gone or not released: %v", key, o)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// mixed returns a state of which each kind is one of the latest four.
func mixed(r *rand.Rand, old []*rollout.Snapshot) *rollout.Snapshot {
	one := func() *rollout.Snapshot { return old[max(0, len(old)-1-r.IntN(4))] }
	s := *one()
	s.Revisions, s.Secrets, s.Objects = one().Revisions, one().Secrets, one().Objects
	return &s
}

// interleave makes writes of two controllers, each of which is killed somewhere.
func (c *cluster) interleave(r *rand.Rand, one, two []rollout.Write) {
	one, two = one[:r.IntN(len(one)+1)], two[:r.IntN(len(two)+1)]
	for len(one)+len(two) > 0 {
		from := &one
		if len(one) == 0 || len(two) > 0 && r.IntN(2) == 0 {
			from = &two
		}
		if c.apply((*from)[0]) != nil {
			*from = nil
			continue
		}
		*from = (*from)[1:]
	}
}
