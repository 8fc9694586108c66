package reconcile_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// Two concurrent loops read each kind of object from a separate cache that lags behind by a
// random amount: after an API server restarts, the watches of a client resume one by one.
// Once the caches have caught up, the cluster ends as if they had never lagged.
func TestCachesOfDifferentTimes(t *testing.T) {
	s := seed(t)
	n := tallied(t, "readings of different times", "writes", "conflicts")
	rounds := testsize.Of(1, 3, 60)
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		wants := wanted(t, a)
		for round := range rounds {
			w, r := newWorld(t, a), draws(s, file, round)
			checked(t, w.Cluster, nil)
			run := 0
			w.script(t, func(*strings.Builder) {
				turns := &turns{waiting: map[int]chan struct{}{}, playing: 2, draw: r}
				var wg sync.WaitGroup
				for id := range 2 {
					own := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
					wg.Go(func() {
						defer turns.leave()
						c := &behind{player: &player{w.Cluster, turns, id}, draw: own, at: map[string]int{}}
						l := w.loop()
						l.Cluster = c
						r := rerun(t, l)
						n[0].Add(int64(c.mixed))
						n[1].Add(int64(r.Changes))
						n[2].Add(int64(r.Conflicts))
					})
				}
				wg.Wait()
				undisturbed(t, w) // the final content of the caches
				if diff := gocmp.Diff(wants[run], final(w.Cluster)); diff != "" {
					t.Fatalf("run %d of round %d (-in step +behind):\n%s", run, round, diff)
				}
				run++
			})
		}
	})
}

// Behind is a cluster whose caches, one per kind, lag behind. A cache only moves forward. It
// includes the writes of its loop, and objects that the loop read after a conflict.
type behind struct {
	*player
	draw  *rand.Rand
	past  []*reconcile.Snapshot
	at    map[string]int // the position of each cache in the history, by kind
	mixed int
}

func (b *behind) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	s, err := b.player.Read(ctx, namespace)
	if err != nil {
		return nil, err
	}
	b.past = append(b.past, s)
	last := len(b.past) - 1
	out, times := *s, map[int]bool{}
	cache := func(kind string) *reconcile.Snapshot {
		if b.draw.IntN(3) == 0 {
			b.at[kind] += b.draw.IntN(last - b.at[kind] + 1)
		}
		times[b.at[kind]] = true
		return b.past[b.at[kind]]
	}
	out.Subscriptions = cache(olm.KindSubscription).Subscriptions
	out.InstallPlans = cache(olm.KindInstallPlan).InstallPlans
	out.CSVs = cache(olm.KindClusterServiceVersion).CSVs
	out.CRDs = cache(olm.KindCRD).CRDs
	out.Deployments = cache("Deployment").Deployments
	out.OperatorGroups = cache(olm.KindOperatorGroup).OperatorGroups
	out.OperatorConditions = cache(olm.KindOperatorCondition).OperatorConditions
	out.Objects = cache("").Objects
	if len(times) > 1 {
		b.mixed++
	}
	return &out, nil
}

func (b *behind) Apply(ctx context.Context, c reconcile.Change) ([]string, error) {
	warnings, err := b.player.Apply(ctx, c)
	if err == nil || errors.Is(err, reconcile.ErrConflict) {
		b.catchUp(ctx, c.Key())
		for _, v := range c.If {
			b.catchUp(ctx, v.Key)
		}
	}
	return warnings, err
}

func (b *behind) catchUp(ctx context.Context, k olm.Key) {
	s, err := b.player.Cluster.Read(ctx, testNamespace)
	if err != nil {
		return
	}
	b.past = append(b.past, s)
	kind := k.Kind
	switch kind {
	case olm.KindSubscription, olm.KindInstallPlan, olm.KindClusterServiceVersion, olm.KindCRD,
		"Deployment", olm.KindOperatorGroup, olm.KindOperatorCondition:
	default:
		kind = ""
	}
	b.at[kind] = len(b.past) - 1
}
