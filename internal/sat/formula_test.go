package sat

import (
	"context"
	"fmt"
	"math/bits"
	"testing"
)

// assignments calls f with every assignment of the variables, as assumptions. Bit i of n is the value of variable i.
func assignments(vars []Lit, f func(n int, assume []Lit)) {
	for n := range 1 << len(vars) {
		assume := make([]Lit, len(vars))
		for i, v := range vars {
			assume[i] = v
			if n>>i&1 == 0 {
				assume[i] = v.Not()
			}
		}
		f(n, assume)
	}
}

func variables(s *Solver, n int) []Lit {
	out := make([]Lit, n)
	for i := range out {
		out[i] = s.Lit()
	}
	return out
}

// solve is Solve without interruption.
func solve(t *testing.T, s *Solver, assume ...Lit) bool {
	t.Helper()
	ok, err := s.Solve(context.Background(), assume...)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

// TestFormulas checks that the literal of a formula is equivalent to the formula: under every assignment, it can have
// only the correct value.
func TestFormulas(t *testing.T) {
	for size := range 7 {
		for _, test := range []struct {
			name    string
			formula func(s *Solver, ls []Lit) Lit
			want    func(n int) bool
		}{
			{"or", func(s *Solver, ls []Lit) Lit { return s.Or(ls...) }, func(n int) bool { return n != 0 }},
			{"and", func(s *Solver, ls []Lit) Lit { return s.And(ls...) }, func(n int) bool { return n == 1<<size-1 }},
			{"nor", func(s *Solver, ls []Lit) Lit { return s.Or(ls...).Not() }, func(n int) bool { return n == 0 }},
			{"and or", func(s *Solver, ls []Lit) Lit { return s.And(s.Or(ls...), s.And(ls...).Not()) }, func(n int) bool {
				return n != 0 && n != 1<<size-1
			}},
		} {
			t.Run(fmt.Sprintf("%s/%d", test.name, size), func(t *testing.T) {
				s := New(0, 0)
				vars := variables(s, size)
				x := test.formula(s, vars)
				assignments(vars, func(n int, assume []Lit) {
					want := test.want(n)
					if got := solve(t, s, append(assume, x)...); got != want {
						t.Errorf("%0*b: can hold: %v, want %v", size, n, got, want)
					}
					if got := solve(t, s, append(assume, x.Not())...); got == want {
						t.Errorf("%0*b: can fail: %v, want %v", size, n, got, !want)
					}
				})
			})
		}
	}
}

// TestAtMostOne checks every assignment with the switch on and off. Off, everything is allowed; on, at most one
// literal may hold.
func TestAtMostOne(t *testing.T) {
	for size := range 9 {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := New(0, 0)
			on := s.Lit()
			vars := variables(s, size)
			s.AtMostOne(on, vars...)
			assignments(vars, func(n int, assume []Lit) {
				if !solve(t, s, append(assume, on.Not())...) {
					t.Errorf("%0*b: refused although it is off", size, n)
				}
				if got, want := solve(t, s, append(assume, on)...), bits.OnesCount(uint(n)) <= 1; got != want {
					t.Errorf("%0*b: accepted: %v, want %v", size, n, got, want)
				}
			})
		})
	}
}

// TestAtMostOneShared checks that constraints over the same literals, some of them negated, each obey their own
// switch.
func TestAtMostOneShared(t *testing.T) {
	s := New(0, 0)
	a, b := s.Lit(), s.Lit()
	vars := variables(s, 6)
	negated := make([]Lit, len(vars))
	for i, v := range vars {
		negated[i] = v.Not()
	}
	s.AtMostOne(a, vars...)
	s.AtMostOne(b, negated...)
	assignments(vars, func(n int, assume []Lit) {
		ones := bits.OnesCount(uint(n))
		for _, test := range []struct {
			on   []Lit
			want bool
		}{
			{[]Lit{a.Not(), b.Not()}, true},
			{[]Lit{a, b.Not()}, ones <= 1},
			{[]Lit{a.Not(), b}, ones >= len(vars)-1},
			{[]Lit{a, b}, false},
		} {
			if got := solve(t, s, append(test.on, assume...)...); got != test.want {
				t.Errorf("%06b with %v: accepted: %v, want %v", n, test.on, got, test.want)
			}
		}
	})
}

// TestAtMostOneSize checks that the size of the constraint is linear.
func TestAtMostOneSize(t *testing.T) {
	s := New(0, 0)
	on, list := s.Lit(), variables(s, 1000)
	vars, clauses := s.Size()
	s.AtMostOne(on, list...)
	moreVars, moreClauses := s.Size()
	if v, c := moreVars-vars, moreClauses-clauses; v > 1000 || c > 3000 {
		t.Errorf("1000 literals take %d variables and %d clauses", v, c)
	}
}

// TestConstants checks the empty formulas, the empty clause and True.
func TestConstants(t *testing.T) {
	s := New(0, 0)
	if !solve(t, s, s.True(), s.And(), s.Or().Not()) {
		t.Error("the empty And and True do not hold, or the empty Or does")
	}
	for _, l := range []Lit{s.True().Not(), s.And().Not(), s.Or()} {
		if solve(t, s, l) {
			t.Errorf("%d can hold", l)
		}
	}
	s.Clause()
	if solve(t, s) {
		t.Error("the empty clause can hold")
	}
}

// TestValue checks that values are available only for the last model.
func TestValue(t *testing.T) {
	s := New(0, 0)
	a, b := s.Lit(), s.Lit()
	s.Clause(a, b)
	if s.Value(a) || s.Value(a.Not()) {
		t.Error("Value returned a value before there was a model")
	}
	if !solve(t, s, a.Not()) || s.Value(a) || !s.Value(a.Not()) || !s.Value(b) {
		t.Error("the model is not that of the assumption")
	}
	if solve(t, s, a.Not(), b.Not()) || s.Value(a) || s.Value(b) {
		t.Error("Value returned a value without a model")
	}
	solve(t, s, a)
	s.Clause(a.Not())
	if s.Value(a) || s.Value(a.Not()) {
		t.Error("Value returned a value after a clause was added")
	}
}
