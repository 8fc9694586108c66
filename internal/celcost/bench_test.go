package celcost

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
)

// BenchmarkCharge reports the nanoseconds per unit charged, for each function. About ten is normal; more than a few
// hundred means that the function is undercharged.
func BenchmarkCharge(b *testing.B) {
	env, costs := testEnv(b)
	vars := sized(4000)
	for _, name := range slices.Sorted(maps.Keys(charged)) {
		for i, text := range charged[name] {
			b.Run(fmt.Sprintf("%s/%d", name, i), func(b *testing.B) { perUnit(b, program(b, env, costs, text), vars) })
		}
	}
}

// BenchmarkPatternCharge is like BenchmarkCharge, for patterns that are slow to parse, compile or match.
func BenchmarkPatternCharge(b *testing.B) {
	env, costs := testEnv(b)
	p := program(b, env, costs, "s.matches(p)")
	for i, text := range hostilePatterns {
		vars := inputs{"s": types.String(strings.Repeat("ab", 50)), "p": types.String(text)}
		b.Run(fmt.Sprint(i), func(b *testing.B) { perUnit(b, p, vars) })
	}
}

// perUnit reports the time of an evaluation per unit charged.
func perUnit(b *testing.B, p *Program, vars inputs) {
	p.Prepare()
	var units uint64
	for b.Loop() {
		_, units, _ = p.Eval(b.Context(), vars, 1<<50)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(units), "ns/unit")
	b.ReportMetric(float64(units), "units/op")
}
