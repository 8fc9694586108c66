package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/internal/testctx"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// pigeons returns a problem without a solution: n+1 operators for n APIs. If hidden is set, counting does not find
// this, and no solver finishes for n above a dozen.
func pigeons(t testing.TB, n, size int, hidden bool) resolver.Problem {
	t.Helper()
	text := testcatalog.Pigeons(n, size)
	if hidden {
		text = testcatalog.HiddenPigeons(n, size)
	}
	c, err := graph.LoadReader(context.Background(), strings.NewReader(text), "pigeons", nil)
	if err != nil {
		t.Fatal(err)
	}
	return fresh(c, "", n+1)
}

// TestPigeons checks that a conflict that counting can detect is found without a search for any number of operators,
// and is explained in one sentence.
func TestPigeons(t *testing.T) {
	for _, test := range []struct {
		n, facts int
		hidden   bool
	}{
		{4, 5 + 4, false},      // subscriptions and APIs
		{4, 5 + 4 + 4*5, true}, // and the requirements of each version
		{20, 21 + 20, false},   // searching would take years
	} {
		no := conflictOf(t, pigeons(t, test.n, test.n, test.hidden))
		if len(no.Cores) != 1 || len(no.Cores[0].Facts) != test.facts {
			t.Errorf("got %d cores, the first of %d facts, want 1 of %d", len(no.Cores), len(no.Cores[0].Facts), test.facts)
		}
		d, err := no.Cores[0].Derive(context.Background())
		if err != nil || d.Incomplete != test.hidden {
			t.Errorf("got %v, %v, want a derivation unless the conflict is hidden", d, err)
		}
	}
}

// TestContext checks that a context ends a resolution at any stage, with its cause (D18).
func TestContext(t *testing.T) {
	cause := errors.New("enough")
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(cause)
		if _, err := resolver.Resolve(ctx, pigeons(t, 2, 2, true)); err != cause {
			t.Errorf("got the error %v, want the cause", err)
		}
	})
	t.Run("while rules of installed operators are compiled", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		rule := property.Property{Type: property.TypeConstraint, Value: []byte(`{"failureMessage":"x","cel":{"rule":"true"}}`)}
		_, err := resolver.Resolve(ctx, resolver.Problem{Installed: []resolver.Installed{
			{Name: "a", Properties: []property.Property{rule}},
			{}, // an error, if it is reached
		}})
		if err != cause {
			t.Errorf("got the error %v, want the cause", err)
		}
	})
	for _, test := range []struct{ n, size int }{
		{14, 14},   // quick to state, but never solved
		{100, 100}, // 10,100 candidates
	} {
		t.Run(fmt.Sprintf("during/candidates=%d", (test.n+1)*test.size), func(t *testing.T) {
			p := pigeons(t, test.n, test.size, true)
			for _, looks := range []int{1, 10, 100, 1000} {
				if _, err := resolver.Resolve(testctx.EndsAfter(looks, cause), p); err != cause {
					t.Errorf("after %d checks of the context: got the error %v, want the cause", looks, err)
				}
			}
		})
	}
}
