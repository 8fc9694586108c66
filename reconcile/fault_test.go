package reconcile_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/reconcile/olm"
	"golang.org/x/tools/txtar"
)

var thorough = flag.Bool("thorough", false, "kill the loop after every write, and more rounds of faults")

var faultSeed = flag.Uint64("seed", 0, "seed of the random faults; 0 takes one from the clock")

func seed(t *testing.T) uint64 {
	s := *faultSeed
	if s == 0 {
		s = uint64(time.Now().UnixNano())
	}
	t.Logf("replay with -seed=%d", s)
	return s
}

// checked lets every change of a cluster pass through the invariants.
func checked(t *testing.T, c *memcluster.Cluster, intercept func(reconcile.Change, func() error) error) {
	if intercept == nil {
		intercept = func(_ reconcile.Change, apply func() error) error { return apply() }
	}
	var mu sync.Mutex // so that before and after differ by one change
	c.Intercept = func(change reconcile.Change, apply func() error) error {
		return intercept(change, func() error {
			mu.Lock()
			defer mu.Unlock()
			if change.Object.Metadata.Namespace != testNamespace || change.Object.Kind != olm.KindClusterServiceVersion && change.Object.Kind != olm.KindInstallPlan {
				return apply() // what the invariants do not look at
			}
			before := c.List()
			if err := apply(); err != nil {
				return err
			}
			if bad := invariants(change, before, c.List()); bad != nil {
				t.Errorf("after %s: %v", &change, bad)
			}
			return nil
		})
	}
}

// The loop killed after every single write (every tenth, from a random one on,
// unless -thorough): the next one ends where the undisturbed one did.
func TestKilledAfterEveryWrite(t *testing.T) {
	s := seed(t)
	each(t, func(t *testing.T, _ string, a *txtar.Archive) {
		t.Parallel()
		w := newWorld(t, a)
		writes := 0
		w.script(t, func(*strings.Builder) {
			var killed []*memcluster.Cluster
			checked(t, w.Cluster, func(_ reconcile.Change, apply func() error) error {
				killed = append(killed, w.Clone()) // before it: after the one before
				return apply()
			})
			undisturbed(t, w)
			w.Intercept = nil
			want := final(w.Cluster)
			stride := 10
			if *thorough {
				stride = 1
			}
			for k := int(s % uint64(stride)); k < len(killed); k += stride {
				c := killed[k]
				writes++
				checked(t, c, nil)
				l := w.loop()
				l.Cluster = c
				if _, err := l.Run(context.Background(), testNamespace); err != nil {
					t.Errorf("killed after %d writes: %v", k, err)
				}
				if diff := gocmp.Diff(want, final(c)); diff != "" {
					t.Fatalf("killed after %d writes (-undisturbed +resumed):\n%s", k, diff)
				}
			}
		})
		t.Logf("killed and resumed %d times", writes)
	})
}

func undisturbed(t *testing.T, w *world) {
	t.Helper()
	if _, err := w.loop().Run(context.Background(), testNamespace); err != nil {
		t.Errorf("undisturbed: %v", err)
	}
}

var errInjected = errors.New("injected fault")

// Conflicts with other writers, errors before a write and answers lost after
// it.
func TestRandomFaults(t *testing.T) {
	s := seed(t)
	rounds := 1
	if *thorough {
		rounds = 20
	}
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		for round := range rounds {
			plain, w := newWorld(t, a), newWorld(t, a)
			var wants [][]string
			plain.script(t, func(*strings.Builder) {
				undisturbed(t, plain)
				wants = append(wants, final(plain.Cluster))
			})
			r := rand.New(rand.NewPCG(s, uint64(len(file)*1000+round)))
			checked(t, w.Cluster, func(c reconcile.Change, apply func() error) error { return disturb(w.Cluster, r, c, apply) })
			run := 0
			w.script(t, func(*strings.Builder) {
				rerun(t, w)
				if diff := gocmp.Diff(wants[run], final(w.Cluster)); diff != "" {
					t.Fatalf("run %d of round %d (-undisturbed +disturbed):\n%s", run, round, diff)
				}
				run++
			})
		}
	})
}

// disturb lets one write in three go wrong.
func disturb(c *memcluster.Cluster, r *rand.Rand, change reconcile.Change, apply func() error) error {
	switch r.IntN(12) {
	case 0:
		return errInjected
	case 1:
		if err := apply(); err != nil {
			return err
		}
		return errInjected // done, but nobody heard
	case 2:
		return fmt.Errorf("injected: %w", reconcile.ErrConflict)
	case 3: // somebody else writes first
		switch change.Object.Kind {
		case olm.KindSubscription, olm.KindInstallPlan, olm.KindOperatorGroup, olm.KindCRD:
			if o, err := c.Get(change.Key()); err == nil {
				o.Metadata.SetAnnotation(touched, fmt.Sprint(r.Uint32()))
				if err := c.Put(&o); err != nil {
					return err
				}
			}
		}
	}
	return apply()
}

// rerun runs the loop as a controller would: again, until it succeeds.
func rerun(t *testing.T, w *world) {
	t.Helper()
	for range 1000 {
		_, err := w.loop().Run(context.Background(), testNamespace)
		if err == nil {
			return
		}
		if !errors.Is(err, errInjected) {
			t.Fatal(err)
		}
	}
	t.Fatal("no end after 1,000 runs")
}

// Two loops at once, on one namespace.
func TestTwoLoops(t *testing.T) {
	s := seed(t)
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		plain, w := newWorld(t, a), newWorld(t, a)
		var wants [][]string
		plain.script(t, func(*strings.Builder) {
			undisturbed(t, plain)
			wants = append(wants, final(plain.Cluster))
		})
		var mu sync.Mutex
		r := rand.New(rand.NewPCG(s, uint64(len(file))))
		checked(t, w.Cluster, func(_ reconcile.Change, apply func() error) error {
			mu.Lock()
			n := r.IntN(4)
			mu.Unlock()
			for range n {
				runtime.Gosched()
			}
			return apply()
		})
		run := 0
		w.script(t, func(*strings.Builder) {
			var wg sync.WaitGroup
			for range 2 {
				wg.Go(func() {
					if _, err := w.loop().Run(context.Background(), testNamespace); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if diff := gocmp.Diff(wants[run], final(w.Cluster)); diff != "" {
				t.Fatalf("run %d (-one loop +two loops):\n%s", run, diff)
			}
			run++
		})
	})
}

// A loop that read the cluster, slept, and wakes when all is over: what it still
// wants to write is refused, or put right again.
func TestStaleLoop(t *testing.T) {
	each(t, func(t *testing.T, _ string, a *txtar.Archive) {
		t.Parallel()
		w := newWorld(t, a)
		var plans []*reconcile.Plan
		w.script(t, func(*strings.Builder) {
			for {
				s, err := w.Read(context.Background(), testNamespace)
				if err != nil {
					t.Fatal(err)
				}
				plan, err := reconcile.Decide(context.Background(), s, w.content, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(plan.Changes) == 0 {
					break
				}
				plans = append(plans, plan)
				for _, c := range plan.Changes {
					if _, err := w.Apply(context.Background(), c); err != nil && !errors.Is(err, reconcile.ErrConflict) {
						t.Fatal(err)
					}
				}
			}
			want := final(w.Cluster)
			for i, plan := range plans {
				c := w.Clone()
				for _, change := range plan.Changes {
					if _, err := c.Apply(context.Background(), change); err != nil && !errors.Is(err, reconcile.ErrConflict) {
						t.Fatal(err)
					}
				}
				checked(t, c, nil)
				l := w.loop()
				l.Cluster = c
				if _, err := l.Run(context.Background(), testNamespace); err != nil {
					t.Errorf("plan %d: %v", i, err)
				}
				if diff := gocmp.Diff(want, final(c)); diff != "" {
					t.Fatalf("plan %d, applied late (-without +with):\n%s", i, diff)
				}
			}
		})
	})
}

// A context that ends is obeyed, and its cause is the error (D18).
func TestLoopContext(t *testing.T) {
	a, err := txtar.ParseFile("testdata/scenario/upgrade-walk.txtar")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, a)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	n := 0
	w.Intercept = func(_ reconcile.Change, apply func() error) error {
		if n++; n == 5 {
			cancel(why)
		}
		return apply()
	}
	if _, err := w.loop().Run(ctx, testNamespace); !errors.Is(err, why) {
		t.Errorf("got error %v, want the cause of the context", err)
	}
	if n != 5 {
		t.Errorf("%d changes were tried, want 5", n)
	}
}
