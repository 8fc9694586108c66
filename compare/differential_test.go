package compare_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-framework/operator-lifecycle-manager/pkg/controller/registry/resolver/cache"

	"github.com/olmkit/olmkit/compare/generate"
	"github.com/olmkit/olmkit/compare/peer"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/resolver"
)

const refused = "refused"

// ours returns the answer of olmkit.
func ours(t *testing.T, p resolver.Problem) string {
	sol, err := resolver.Resolve(context.Background(), p)
	var no *resolver.Conflict
	switch {
	case errors.As(err, &no):
		return refused
	case err != nil:
		t.Fatalf("problem %s: %v", p.ID, err)
	}
	return peer.Ours(sol)
}

// among runs OLM's resolver until it gives the answer want, but not more often than most. It returns all answers that
// OLM gave, and whether want is among them.
func among(t *testing.T, p *resolver.Problem, snapshots []*cache.Snapshot, want string, most int) (answers []string, ok bool) {
	q, err := peer.NewProblem(p, snapshots)
	if err != nil {
		t.Fatal(err)
	}
	for range most {
		list, err := q.Resolve()
		got := refused
		if err == nil {
			got = peer.Answer(list)
		}
		if got == want {
			return nil, true
		}
		if !slices.Contains(answers, got) {
			answers = append(answers, got)
		}
	}
	return answers, false
}

// TestGenerated compares the answers to generated problems with those of the running OLM. OLM iterates over maps and
// may give any of several answers.
func TestGenerated(t *testing.T) {
	ctx := context.Background()
	problems := testsize.Of(60, 600, 6000)
	asked, solved, differ := 0, 0, 0
next:
	for seed := uint64(0); asked < problems; seed++ {
		p := generate.Problem(seed)
		var snapshots []*cache.Snapshot
		for i := range p.Catalogs {
			c := &p.Catalogs[i]
			g, err := graph.LoadReader(ctx, strings.NewReader(*c.FBC), c.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			m, err := peer.Load(ctx, fstest.MapFS{"catalog.json": {Data: []byte(*c.FBC)}})
			if err != nil {
				continue next // opm finds a bundle that can only be reached through a skipped one
			}
			s, err := peer.Snapshot(ctx, m, c.ID())
			if err != nil {
				t.Fatal(err)
			}
			c.Graph, snapshots = g, append(snapshots, s)
		}
		asked++
		got := ours(t, p)
		if got != refused {
			solved++
		}
		if answers, ok := among(t, &p, snapshots, got, 60); !ok {
			differ++
			t.Errorf("seed %d: olmkit:\n%s\nOLM:\n%s", seed, got, strings.Join(answers, "\nor:\n"))
		}
		if differ > 5 {
			t.Fatal("too many differences")
		}
	}
	t.Logf("%d problems, %d of them with a solution, %d answers that OLM does not give", asked, solved, differ)
}

// TestRealCatalogs is TestGenerated for the real catalogs.
func TestRealCatalogs(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		name     string
		problems int
	}{{"openshift-v4.16", 20}, {"openshift-v4.19", 20}, {"community", 8}} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := realcat.FS(t, tt.name)
			m, err := peer.Load(ctx, fsys)
			if err != nil {
				t.Fatal(err)
			}
			id := resolver.CatalogID{Name: tt.name, Namespace: "olm"}
			snapshot, err := peer.Snapshot(ctx, m, id)
			if err != nil {
				t.Fatal(err)
			}
			requests, err := generate.NewRequests(ctx, resolver.Catalog{Name: id.Name, Namespace: id.Namespace, Graph: realcat.Graph(t, tt.name)})
			if err != nil {
				t.Fatal(err)
			}
			solved := 0
			for seed := range uint64(tt.problems) {
				p := requests.Random(seed, 1+int(seed)%8)
				p.ID = fmt.Sprint(seed)
				got := ours(t, p)
				if got != refused {
					solved++
				}
				if answers, ok := among(t, &p, []*cache.Snapshot{snapshot}, got, 6); !ok {
					t.Errorf("problem %d: olmkit:\n%s\nOLM:\n%s", seed, got, strings.Join(answers, "\nor:\n"))
				}
			}
			t.Logf("%d problems, %d of them with a solution", tt.problems, solved)
		})
	}
}
