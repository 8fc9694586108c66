package resolver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
)

// shaped returns a problem of a shape.
func shaped(t testing.TB, shape string, n int, outcome testcatalog.Outcome, mode resolver.Semantics) resolver.Problem {
	t.Helper()
	for p, err := range resolver.ReadProblems(bytes.NewReader(testcatalog.Shape(shape, n, outcome, mode == resolver.PerBundle))) {
		if err == nil {
			err = p.Open(context.Background(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	panic("unreachable")
}

// TestAllocatedGrowth checks that what an answer allocates is nearly linear in what
// it reaches (D21). The statements that it executes are counted in the root
// directory.
func TestAllocatedGrowth(t *testing.T) {
	allocated := func(shape string, n int, outcome testcatalog.Outcome, mode resolver.Semantics) float64 {
		p := shaped(t, shape, n, outcome, mode)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := resolver.Resolve(context.Background(), p)
		runtime.ReadMemStats(&after)
		var no *resolver.Conflict
		if refused := errors.As(err, &no); err != nil && !refused || refused && outcome == testcatalog.FirstTry {
			t.Fatalf("%s, %s, %s, %d: %v", shape, outcome, mode, n, err)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	for _, shape := range testcatalog.Shapes {
		for _, outcome := range testcatalog.Outcomes {
			for _, mode := range []resolver.Semantics{resolver.Documented, resolver.PerBundle} {
				const n = 300
				base, small, large := allocated(shape, n, outcome, mode), allocated(shape, 2*n, outcome, mode), allocated(shape, 4*n, outcome, mode)
				growth := (large - small) / (small - base)
				text := fmt.Sprintf("%s, %s, %s: %.0f bytes for %d, then %.0f and %.0f: %.2f times", shape, outcome, mode, base, n, small, large, growth)
				t.Log(text)
				// Slices and maps grow in steps; what is quadratic grows by 4.
				if growth > 3 {
					t.Error(text)
				}
			}
		}
	}
}
