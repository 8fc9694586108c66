package sat

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestOverfull(t *testing.T) {
	for _, test := range []struct {
		name            string
		demands, limits [][]string
		over, by        []int
	}{
		{"nothing", nil, nil, nil, nil},
		{"one place", [][]string{{"a"}, {"b"}}, [][]string{{"a", "b"}}, []int{0, 1}, []int{0}},
		{"room enough", [][]string{{"a", "c"}, {"b", "d"}}, [][]string{{"a", "b"}, {"c", "d"}}, nil, nil},
		{"an alternative", [][]string{{"a", "x"}, {"b"}}, [][]string{{"a", "b"}}, nil, nil},
		{"met together", [][]string{{"a"}, {"a"}}, [][]string{{"a", "b"}}, nil, nil},
		{"impossible", [][]string{{"a"}, {}}, nil, []int{1}, nil},
		{"only the crowded part", [][]string{{"z"}, {"a", "c"}, {"b", "d"}, {"e", "f"}}, [][]string{{"z"}, {"a", "b", "e"}, {"c", "d", "f"}}, []int{1, 2, 3}, []int{1, 2}},
		{"separate limits do not count", [][]string{{"a", "b"}, {"c", "d"}, {"e", "f"}}, [][]string{{"a", "b"}, {"c", "d"}, {"e", "f"}, {"a", "c", "e"}, {"b", "d", "f"}}, []int{0, 1, 2}, []int{3, 4}},
		{"many shared limits", [][]string{{"a"}, {"b"}}, [][]string{{"a", "b"}, {"a", "b"}, {"b", "a"}}, []int{0, 1}, []int{0}},
	} {
		over, by := Overfull(test.demands, test.limits)
		if !slices.Equal(over, test.over) || !slices.Equal(by, test.by) {
			t.Errorf("%s: Overfull(%q, %q) = %v, %v, want %v, %v", test.name, test.demands, test.limits, over, by, test.over, test.by)
		}
	}
}

// TestOverfullRandom compares Overfull with an exhaustive search. If each item is in one limit, the result is exact.
func TestOverfullRandom(t *testing.T) {
	found := 0
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 1))
		exact := seed%2 == 0
		demands, limits := make([][]int, 1+r.IntN(5)), make([][]int, 1+r.IntN(4))
		items := 0
		for d := range demands {
			for range 1 + r.IntN(3) {
				demands[d] = append(demands[d], items)
				l := r.IntN(len(limits))
				limits[l] = append(limits[l], items)
				if !exact && r.IntN(3) == 0 {
					l := r.IntN(len(limits))
					limits[l] = append(limits[l], items)
				}
				items++
			}
			if !exact && d > 0 && r.IntN(3) == 0 {
				demands[d] = append(demands[d], r.IntN(items))
			}
		}
		over, by := Overfull(demands, limits)
		fits := meetable(demands, limits, nil)
		if over == nil {
			if exact && !fits {
				t.Fatalf("seed %d: Overfull(%v, %v) found nothing", seed, demands, limits)
			}
			continue
		}
		found++
		if len(over) != len(by)+1 || !slices.IsSorted(over) || !slices.IsSorted(by) {
			t.Fatalf("seed %d: Overfull(%v, %v) = %v, %v", seed, demands, limits, over, by)
		}
		var ds, ls [][]int
		for _, d := range over {
			ds = append(ds, demands[d])
		}
		for _, l := range by {
			ls = append(ls, limits[l])
		}
		if meetable(ds, ls, nil) {
			t.Fatalf("seed %d: Overfull(%v, %v) = %v, %v, which can be met", seed, demands, limits, over, by)
		}
	}
	if found < 1000 {
		t.Errorf("%d of the problems are overfull, which is too few", found)
	}
}

// meetable reports whether every demand can have one of its items within the limits, in addition to those already
// used.
func meetable(demands, limits [][]int, taken []int) bool {
	if len(demands) == 0 {
		return true
	}
	for _, i := range demands[0] {
		blocked := slices.ContainsFunc(limits, func(l []int) bool {
			return slices.Contains(l, i) && slices.ContainsFunc(taken, func(o int) bool { return o != i && slices.Contains(l, o) })
		})
		if !blocked && meetable(demands[1:], limits, append(taken[:len(taken):len(taken)], i)) {
			return true
		}
	}
	return false
}

// TestCount checks that counting changes no answer: the same clauses, with and
// without recorded demands, under many assumptions one after the other.
func TestCount(t *testing.T) {
	cut := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		counting, plain := New(0, 0), New(0, 0)
		vars := variables(counting, 12)
		variables(plain, 12)
		some := func(n int) []Lit {
			var out []Lit
			for _, i := range r.Perm(len(vars))[:n] {
				out = append(out, vars[i])
			}
			return out
		}
		on := func() Lit { plain.Lit(); return counting.Lit() }
		var switches []Lit
		for range 2 + r.IntN(3) {
			o, of := on(), some(5+r.IntN(4))
			switches = append(switches, o)
			// The ladder has separate variables, so both solvers get the same clauses.
			counting.AtMostOne(o, of...)
			plain.AtMostOne(o, of...)
		}
		for range 2 + r.IntN(5) {
			when, of := []Lit{on()}, some(min(r.IntN(8), 3))
			switches = append(switches, when[0])
			if r.IntN(4) == 0 || len(of) == 0 {
				when = append(when, vars[r.IntN(len(vars))])
			}
			var clause []Lit
			for _, l := range when {
				clause = append(clause, l.Not())
			}
			clause = append(clause, of...)
			counting.Clause(clause...)
			plain.Clause(clause...)
			counting.Demand(when, of)
		}
		_, before := counting.Size()
		for range 20 {
			assume := slices.DeleteFunc(slices.Clone(switches), func(Lit) bool { return r.IntN(12) == 0 })
			for _, l := range some(r.IntN(3)) {
				if r.IntN(2) == 0 {
					l = l.Not()
				}
				assume = append(assume, l)
			}
			got, want := solve(t, counting, assume...), solve(t, plain, assume...)
			if got != want {
				t.Fatalf("seed %d: Solve(%v) = %v with counting, %v without", seed, assume, got, want)
			}
			if !got && solve(t, plain, counting.Core()...) {
				t.Fatalf("seed %d: Core %v of %v can hold together", seed, counting.Core(), assume)
			}
		}
		_, after := counting.Size()
		cut += after - before
	}
	if cut < 500 {
		t.Errorf("counting found %d contradictions, which is too few", cut)
	}
}

// TestCountsPigeons checks that counting avoids a search: 40 pigeons for 39 holes, some with a separate hole that is
// closed.
func TestCountsPigeons(t *testing.T) {
	const n = 39
	s := New(0, 0)
	var on []Lit
	sits := make([][]Lit, n+1)
	for i := range sits {
		sits[i] = variables(s, n)
		when, of := []Lit{s.Lit()}, sits[i]
		on = append(on, when[0])
		if i%3 == 0 {
			away, closed := s.Lit(), s.Lit()
			of = append(slices.Clone(of), away)
			s.Clause(closed.Not(), away.Not())
			s.Demand([]Lit{closed, away}, nil)
			on = append(on, closed)
		}
		s.Clause(append(slices.Clone(of), when[0].Not())...)
		s.Demand(when, of)
	}
	for hole := range n {
		var list []Lit
		for i := range sits {
			list = append(list, sits[i][hole])
		}
		o := s.Lit()
		s.AtMostOne(o, list...)
		on = append(on, o)
	}
	if ok, err := s.Solve(context.Background(), on...); ok || err != nil {
		t.Errorf("Solve = %v, %v, want no model", ok, err)
	}
	if core := inOrder(on, s.Core()); !slices.Equal(core, on) {
		t.Errorf("Core = %v, want all of %v", core, on)
	}
}
