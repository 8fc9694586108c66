package resolver_test

import (
	"context"
	"errors"
	"testing"

	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
)

// TestRelaxationsAreBounded counts how often the text of a large conflict checks its context: the more parts there
// are, the fewer fixes are tried for each (D21).
func TestRelaxationsAreBounded(t *testing.T) {
	looked := func(n int) float64 {
		p := shaped(t, testcatalog.Case{Shape: "layers", Outcome: "refused"}, n)
		_, err := resolver.Resolve(t.Context(), p)
		var no *resolver.Conflict
		if !errors.As(err, &no) {
			t.Fatal(err)
		}
		ctx := &looks{Context: context.Background()}
		if _, err := no.Text(ctx, 0, nil); err != nil {
			t.Fatal(err)
		}
		return float64(ctx.n) / float64(n)
	}
	small, large := looked(100), looked(1200)
	t.Logf("%.1f checks for each of 100 packages, %.1f for each of 1200", small, large)
	if large > small*2/3 {
		t.Errorf("%.1f checks for each of 1200 packages, and %.1f for each of 100: want at most two thirds", large, small)
	}
}
