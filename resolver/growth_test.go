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
	"github.com/olmkit/olmkit/resolver/document"
)

// shaped returns a problem of a shape.
func shaped(t testing.TB, c testcatalog.Case, n int) resolver.Problem {
	t.Helper()
	for p, err := range document.Read[resolver.Problem](bytes.NewReader(testcatalog.Shape(c, n))) {
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

// TestAllocatedGrowth checks that the allocations of an answer grow nearly linearly with the
// reachable bundles (D21). A test in the root directory counts executed statements.
func TestAllocatedGrowth(t *testing.T) {
	allocated := func(c testcatalog.Case, n int) float64 {
		p := shaped(t, c, n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := resolver.Resolve(context.Background(), p)
		runtime.ReadMemStats(&after)
		var no *resolver.Conflict
		if refused := errors.As(err, &no); err != nil && !refused || refused && c.Outcome == testcatalog.FirstTry {
			t.Fatalf("%v, %d: %v", c, n, err)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	for _, c := range testcatalog.Cases() {
		const n = 300
		base, small, large := allocated(c, n), allocated(c, 2*n), allocated(c, 4*n)
		growth := (large - small) / (small - base)
		text := fmt.Sprintf("%v: %.0f bytes for %d, then %.0f and %.0f: %.2f times", c, base, n, small, large, growth)
		t.Log(text)
		// Slices and maps grow in steps; quadratic growth is a factor of 4.
		if growth > 3 {
			t.Error(text)
		}
	}
}
