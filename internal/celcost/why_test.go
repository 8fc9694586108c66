package celcost

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
)

// CEL's own limit misses work that this package charges for: comparing a list nested in twenty macros costs it a few
// units but takes 2^20 comparisons (S2). If this test fails, CEL may have improved enough to replace this package.
func TestCELCostMissesWork(t *testing.T) {
	env, costs := testEnv(t)
	const depth = 20
	text := "[[s]]" + strings.Repeat(".map(x, [x, x])", depth) + ".all(x, x == x)"
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	prg, err := env.Program(checked, cel.CostLimit(10_000), cel.InterruptCheckFrequency(100), cel.CostTracking(nil))
	if err != nil {
		t.Fatal(err)
	}
	_, details, err := prg.ContextEval(t.Context(), sized(1))
	if err != nil {
		t.Fatalf("CEL ends it: %v", err)
	}
	if cost := details.ActualCost(); cost == nil || *cost > 1000 {
		t.Errorf("CEL charges %v", cost)
	}
	if _, _, err := program(t, env, costs, text).Eval(t.Context(), sized(1), 1<<depth); err != ErrExceeded {
		t.Errorf("it ends with %v, want %v", err, ErrExceeded)
	}
}
