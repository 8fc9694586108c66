package reconcile_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

var faultSeed = flag.Uint64("seed", 0, "seed of the random faults; by default always the same, with make thorough another each time")

func seed(t *testing.T) uint64 {
	s := *faultSeed
	if s == 0 {
		s = testsize.Of(1, 1, rand.Uint64())
	}
	t.Logf("replay with -seed=%d", s)
	return s
}

// draws returns the random numbers of a scenario. Equal seeds give equal numbers.
func draws(seed uint64, file string, round int) *rand.Rand {
	h := fnv.New64a()
	fmt.Fprint(h, file, round)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func counters(n int) []*atomic.Int64 {
	list := make([]*atomic.Int64, n)
	for i := range list {
		list[i] = new(atomic.Int64)
	}
	return list
}

// tallied returns counters of the faults in the scenarios of a test. The test fails if a
// kind of fault never happens.
func tallied(t *testing.T, names ...string) []*atomic.Int64 {
	list := counters(len(names))
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		for i, name := range names {
			if n := list[i].Load(); n == 0 {
				t.Errorf("%s: never", name)
			} else {
				t.Logf("%s: %d", name, n)
			}
		}
	})
	return list
}

func undisturbed(t *testing.T, w *world) {
	t.Helper()
	if _, err := w.loop().Run(context.Background(), testNamespace); err != nil && !errors.Is(err, errRefused) {
		t.Errorf("undisturbed: %v", err)
	}
}

// wanted returns the state after each run of a scenario without faults.
func wanted(t *testing.T, a *txtar.Archive) [][]string {
	t.Helper()
	w := newWorld(t, a)
	checked(t, w.Cluster, nil)
	var wants [][]string
	w.script(t, func(*strings.Builder) {
		undisturbed(t, w)
		wants = append(wants, final(w.Cluster))
	})
	return wants
}

var errInjected = errors.New("injected fault")

// The faults that disturb injects.
var faultNames = []string{"errors before a write", "answers lost after a write", "injected conflicts", "writes of others in between", "conflicts with these"}

// Conflicts with other writers, errors before a write and responses lost after it.
func TestRandomFaults(t *testing.T) {
	s := seed(t)
	n := tallied(t, faultNames...)
	rounds := testsize.Of(1, 1, 20)
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		wants := wanted(t, a)
		for round := range rounds {
			disturbed(t, a, wants, draws(s, file, round), n)
		}
	})
}

// disturbed plays a scenario with faults, and compares the state after each run with the
// expected one.
func disturbed(t *testing.T, a *txtar.Archive, wants [][]string, r *rand.Rand, n []*atomic.Int64) {
	t.Helper()
	w := newWorld(t, a)
	checked(t, w.Cluster, func(c reconcile.Change, apply func() error) error { return disturb(w.Cluster, r, n, c, apply) })
	run := 0
	w.script(t, func(*strings.Builder) {
		rerun(t, w.loop())
		if diff := gocmp.Diff(wants[run], final(w.Cluster)); diff != "" {
			t.Fatalf("run %d (-undisturbed +disturbed):\n%s", run, diff)
		}
		run++
	})
}

// Seeds for which faults once changed how a run ended, by scenario. The random tests above
// draw new ones.
func TestKnownSeeds(t *testing.T) {
	n, faults := counters(4), counters(len(faultNames))
	for _, known := range []struct {
		scenario string
		seed     uint64
	}{
		{"plan-times-out", 7000038}, // conflicts were injected twice, and the status reported them
		{"plan-times-out", 7000087},
	} {
		t.Run(fmt.Sprintf("%s/%d", known.scenario, known.seed), func(t *testing.T) {
			file := "testdata/scenario/" + known.scenario + ".txtar"
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			wants := wanted(t, a)
			disturbed(t, a, wants, draws(known.seed, file, 0), faults)
			twice(t, a, wants, false, draws(known.seed, file, 0), n, faults)
			twice(t, a, wants, true, draws(known.seed, file, 1), n, faults)
		})
	}
}

// disturb makes one write in three fail.
func disturb(c *memcluster.Cluster, r *rand.Rand, n []*atomic.Int64, change reconcile.Change, apply func() error) error {
	switch r.IntN(12) {
	case 0:
		n[0].Add(1)
		return errInjected
	case 1:
		if err := apply(); err != nil {
			return err
		}
		n[1].Add(1)
		return errInjected // the write succeeded, but its response was lost
	case 2:
		n[2].Add(1)
		return fmt.Errorf("%w: %w", errInjected, reconcile.ErrConflict)
	case 3: // another writer is faster
		o, err := c.Get(change.Key())
		if err != nil || o.Kind == olm.KindClusterServiceVersion { // its annotations are copied to the pods
			break
		}
		n[3].Add(1)
		o.Metadata.SetAnnotation(touched, fmt.Sprint(r.Uint32()))
		if err := c.Put(&o); err != nil {
			return err
		}
		err = apply()
		if errors.Is(err, reconcile.ErrConflict) {
			n[4].Add(1)
		}
		return err
	}
	return apply()
}

// rerun runs a loop as a controller would: again, until it succeeds.
func rerun(t *testing.T, l *reconcile.Loop) *reconcile.Result {
	t.Helper()
	total := &reconcile.Result{}
	for range 1000 {
		r, err := l.Run(context.Background(), testNamespace)
		total.Changes, total.Conflicts = total.Changes+r.Changes, total.Conflicts+r.Conflicts
		if err == nil || errors.Is(err, errRefused) && !errors.Is(err, errInjected) {
			return total
		}
		if !errors.Is(err, errInjected) {
			t.Error(err)
			return total
		}
	}
	t.Error("no end after 1,000 runs")
	return total
}

// Two concurrent loops on one namespace, in a random order, on a healthy cluster and on one
// with faults.
func TestTwoLoops(t *testing.T) {
	s := seed(t)
	n := tallied(t, "writes of the first", "writes of the second", "conflicts of the first", "conflicts of the second")
	faults := tallied(t, faultNames...)
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		wants := wanted(t, a)
		for round, faulty := range []bool{false, true} {
			twice(t, a, wants, faulty, draws(s, file, round), n, faults)
		}
	})
}

// twice plays a scenario with two loops, and compares the state after each run with the
// expected one.
func twice(t *testing.T, a *txtar.Archive, wants [][]string, faulty bool, r *rand.Rand, n, faults []*atomic.Int64) {
	t.Helper()
	w := newWorld(t, a)
	checked(t, w.Cluster, func(c reconcile.Change, apply func() error) error {
		if faulty {
			return disturb(w.Cluster, r, faults, c, apply)
		}
		return apply()
	})
	run := 0
	w.script(t, func(*strings.Builder) {
		turns := &turns{waiting: map[int]chan struct{}{}, playing: 2, draw: r}
		var wg sync.WaitGroup
		for id := range 2 {
			wg.Go(func() {
				defer turns.leave()
				l := w.loop()
				l.Cluster = &player{w.Cluster, turns, id}
				r := rerun(t, l)
				n[id].Add(int64(r.Changes))
				n[2+id].Add(int64(r.Conflicts))
			})
		}
		wg.Wait()
		if diff := gocmp.Diff(wants[run], final(w.Cluster)); diff != "" {
			t.Fatalf("run %d, faults %v (-one loop +two loops):\n%s", run, faulty, diff)
		}
		run++
	})
}

// Turns schedules the calls of several loops on a cluster, one at a time. The next one is
// drawn once all loops have made a call, so the order depends only on the seed.
type turns struct {
	mu      sync.Mutex
	waiting map[int]chan struct{}
	playing int
	draw    *rand.Rand
}

func (x *turns) wait(id int) {
	turn := make(chan struct{})
	x.mu.Lock()
	x.waiting[id] = turn
	x.next()
	x.mu.Unlock()
	<-turn
}

func (x *turns) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.playing--
	x.next()
}

func (x *turns) next() {
	if x.playing == 0 || len(x.waiting) < x.playing {
		return
	}
	ids := slices.Sorted(maps.Keys(x.waiting))
	id := ids[x.draw.IntN(len(ids))]
	close(x.waiting[id])
	delete(x.waiting, id)
}

// A player is a cluster as one of several loops sees it.
type player struct {
	*memcluster.Cluster
	turns *turns
	id    int
}

func (p *player) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	p.turns.wait(p.id)
	return p.Cluster.Read(ctx, namespace)
}

func (p *player) Apply(ctx context.Context, c reconcile.Change) ([]string, error) {
	p.turns.wait(p.id)
	return p.Cluster.Apply(ctx, c)
}

// A loop that read the cluster, paused, and continues when everything is done: its remaining
// writes are refused or reverted.
func TestStaleLoop(t *testing.T) {
	n := tallied(t, "late writes refused", "late writes made")
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
				made := 0
				for _, c := range plan.Changes {
					switch _, err := w.Apply(context.Background(), c); {
					case err == nil:
						made++
					case !errors.Is(err, reconcile.ErrConflict) && !errors.Is(err, errRefused):
						t.Fatal(err)
					}
				}
				if made == 0 {
					break // the rest is refused
				}
			}
			undisturbed(t, w)
			want := final(w.Cluster)
			for i, plan := range plans {
				c := w.Clone()
				checked(t, c, nil)
				made := false
				for _, change := range plan.Changes {
					switch _, err := c.Apply(context.Background(), change); {
					case err == nil:
						n[1].Add(1)
						made = true
					case errors.Is(err, reconcile.ErrConflict), errors.Is(err, errRefused):
						n[0].Add(1)
					default:
						t.Fatal(err)
					}
				}
				if !made {
					continue // the loop stopped at the start; the cluster has not changed
				}
				l := w.loop()
				l.Cluster = c
				if _, err := l.Run(context.Background(), testNamespace); err != nil && !errors.Is(err, errRefused) {
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
