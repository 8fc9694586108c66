package reconcile_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// The loop is killed before every single write of every scenario. The next loop ends in the
// same state as one that was not killed.
func TestKilledAfterEveryWrite(t *testing.T) {
	n := tallied(t, "killed and resumed", "writes of resumed loops")
	each(t, func(t *testing.T, _ string, a *txtar.Archive) {
		t.Parallel()
		w := newWorld(t, a)
		w.script(t, func(*strings.Builder) {
			var killed []*memcluster.Cluster
			checked(t, w.Cluster, func(_ reconcile.Change, apply func() error) error {
				killed = append(killed, w.Clone())
				return apply()
			})
			undisturbed(t, w)
			w.Intercept = nil
			want, seen := final(w.Cluster), states{}
			for k, c := range slices.Backward(killed) {
				n[0].Add(1)
				checked(t, c, func(_ reconcile.Change, apply func() error) error {
					n[1].Add(1)
					return apply()
				})
				l := w.loop()
				r := &resumed{Cluster: c, seen: seen}
				l.Cluster = r
				if _, err := l.Run(context.Background(), testNamespace); errors.Is(err, errSeen) {
					r.remember()
					continue
				} else if err != nil && !errors.Is(err, errRefused) {
					t.Errorf("killed after %d writes: %v", k, err)
				}
				if diff := gocmp.Diff(want, final(c)); diff != "" {
					t.Fatalf("killed after %d writes (-undisturbed +resumed):\n%s", k, diff)
				}
				r.remember()
			}
		})
	})
}

// States are cluster states from which a loop is known to end correctly.
type states map[[sha256.Size]byte]bool

// resumed is a cluster that ends a run when it reaches a known state: a loop has no memory,
// so its next steps follow from the state alone. The last kills are therefore played first,
// and each earlier one only until it reaches a state of a later one.
type resumed struct {
	*memcluster.Cluster
	seen states
	path [][sha256.Size]byte
}

var errSeen = errors.New("this state was seen before")

func (r *resumed) Read(ctx context.Context, namespace string) (*reconcile.Snapshot, error) {
	s := stateOf(r.Cluster)
	if r.seen[s] && testsize.Of(true, true, false) {
		return nil, errSeen
	}
	r.path = append(r.path, s)
	return r.Cluster.Read(ctx, namespace)
}

func (r *resumed) remember() {
	for _, s := range r.path {
		r.seen[s] = true
	}
}

// stateOf returns a hash of everything in a cluster except versions, which count writes and
// do not affect decisions.
func stateOf(c *memcluster.Cluster) [sha256.Size]byte {
	h := sha256.New()
	for _, o := range c.List() {
		o.Metadata.ResourceVersion = ""
		text, err := json.Marshal(o)
		fmt.Fprintln(h, string(text), err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
