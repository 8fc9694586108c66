package rollout_test

import (
	"math/rand/v2"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/rollout"
)

// The controller is killed after each write, reads old states, and runs twice. The result is
// that of an undisturbed run. In a third of the cases the extension is deleted on the way.
func TestFaults(t *testing.T) { // K72, K76, K93, K94, K103
	for seed := range testsize.Of[uint64](200, 500, 2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		c := newCluster(t)
		c.recorded = r.IntN(2) == 0
		deleted := r.IntN(300)
		for n, text := range []string{first, second} {
			c.target(text)
			old := []*rollout.Snapshot{c.snapshot()}
			for i := range 50 {
				if n*50+i == deleted {
					c.extension.Deleting, c.extension.ResourceVersion = true, c.next()
					c.collect()
				}
				c.interleave(r, c.plan(old[max(0, len(old)-1-r.IntN(4))]), c.plan(c.snapshot()))
				if r.IntN(3) == 0 {
					c.kubelet()
				}
				old = append(old, c.snapshot())
			}
			c.settle()
		}
		want := upgraded
		if c.extension.Deleting {
			want = ""
			if len(c.secrets) > 0 {
				t.Errorf("%d Secrets are left", len(c.secrets))
			}
		}
		if c.expect(want); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
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
