package repo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// maxGrowth is the largest factor by which a cost may grow when the input doubles: n log n grows by a little more than
// 2, n² by 4.
const maxGrowth = 2.3

// TestGrowth checks that the cost of an answer is nearly linear in the size of its problem (D21). For each shape of
// problem and each outcome, a problem twice as large takes about twice as many statements.
func TestGrowth(t *testing.T) {
	if testsize.Race {
		t.Skip("the counts are the same with the race detector; the run without it is enough")
	}
	const module = "github.com/olmkit/olmkit/"
	c := newCounter(t)
	for _, w := range growths() {
		const n = 300
		in := []string{module + "resolver", module + "internal/sat", module + "reconcile", "github.com/go-air/gini", "slices/"}
		if strings.HasPrefix(w(n), censusOf) {
			in = append(in, module+"graph")
		}
		// The difference of two runs leaves out constant costs.
		base, small, large := c.count(t, w(n), 1, in...), c.count(t, w(2*n), 1, in...), c.count(t, w(4*n), 1, in...)
		growth := float64(large-small) / float64(small-base)
		t.Logf("%-35s %9d statements for %d, then %9d and %9d: %.2f times", w(n), base, n, small, large, growth)
		if growth > maxGrowth {
			t.Errorf("%s: each doubling multiplies the additional statements by %.2f, want at most %.2f", w(n), growth, maxGrowth)
		}
	}
}

// planOf stands in the place of the outcome in the names of workloads that plan a namespace.
const planOf testcatalog.Outcome = "plan"

// growths returns a function for each shape of workload, which returns the name of the workload of size n. Only one
// shape is run with constraints per bundle: package resolver tests that they cost the same.
func growths() (list []func(n int) string) {
	for _, c := range testcatalog.Cases() {
		if c.PerBundle && c.Shape != "chain" {
			continue
		}
		list = append(list, func(n int) string { return fmt.Sprint(c.Shape, " ", c.Outcome, " ", c.PerBundle, " ", n) })
	}
	for _, name := range []string{neighbors, heldBack, censusOf} {
		list = append(list, func(n int) string { return fmt.Sprint(name, n) })
	}
	for _, shape := range []string{"subscriptions", "installed", "upgrades", "orphans"} {
		list = append(list, func(n int) string { return fmt.Sprint(shape, " ", planOf, " ", false, " ", n) })
	}
	return list
}

// growing returns the workload with a name that growths generates, or nil for other names.
func growing(t testing.TB, name string) []workload {
	var c testcatalog.Case
	var n int
	if _, err := fmt.Sscanf(name, neighbors+"%d", &n); err == nil {
		return []workload{{name, among(t, n)}}
	}
	if w := advising(t, name); w != nil {
		return w
	}
	if _, err := fmt.Sscan(name, &c.Shape, &c.Outcome, &c.PerBundle, &n); err != nil {
		return nil
	}
	if name != fmt.Sprint(c.Shape, " ", c.Outcome, " ", c.PerBundle, " ", n) {
		return nil // fmt.Sscan accepts other words as a boolean, too
	}
	plan := c.Outcome == planOf
	if plan {
		c.Outcome = testcatalog.FirstTry
	}
	for p, err := range document.Read[resolver.Problem](bytes.NewReader(testcatalog.Shape(c, n))) {
		if err == nil {
			err = p.Open(context.Background(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		do := func() error { return answer(p) }
		if plan {
			do = planned(t, p)
		}
		return []workload{{name, do}}
	}
	return nil
}

// answer resolves a problem and computes the reasons for each choice. A problem without a solution is not an error.
func answer(p resolver.Problem) error {
	sol, err := resolver.Resolve(context.Background(), p)
	var no *resolver.Conflict
	switch {
	case errors.As(err, &no):
		return nil
	case err != nil:
		return err
	}
	for _, s := range sol.Selected {
		if _, err := sol.RequiredBy(context.Background(), s.Name); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkGrowth resolves problems of all shapes. With the largest size of a shape, it reports the exponent of n that
// fits the times of all sizes best: 1 is linear, and n log n is about 1.1 between these sizes.
func BenchmarkGrowth(b *testing.B) {
	for _, w := range growths() {
		var sizes, times []float64 // logarithms
		for _, n := range []int{1_000, 3_000, 10_000} {
			name := w(n)
			b.Run(strings.ReplaceAll(name, " ", "/"), func(b *testing.B) {
				do := growing(b, name)[0].do
				b.ReportAllocs()
				for b.Loop() {
					if err := do(); err != nil {
						b.Fatal(err)
					}
				}
				sizes = append(sizes, math.Log(float64(n)))
				times = append(times, math.Log(b.Elapsed().Seconds()/float64(b.N)))
				if len(sizes) == 3 {
					b.ReportMetric(slope(sizes, times), "exponent")
				}
			})
		}
	}
}

// slope returns the slope of the line that fits points best (least squares).
func slope(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	for i := range x {
		sx, sy, sxx, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], sxy+x[i]*y[i]
	}
	n := float64(len(x))
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// TestSlope checks slopes of known lines.
func TestSlope(t *testing.T) {
	x := []float64{math.Log(1_000), math.Log(3_000), math.Log(10_000)}
	for _, exponent := range []float64{0, 1, 2} {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = 7 + exponent*x[i]
		}
		if got := slope(x, y); math.Abs(got-exponent) > 1e-9 {
			t.Errorf("slope %v, want %v", got, exponent)
		}
	}
}
