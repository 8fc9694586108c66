package sat

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/internal/testctx"
	"github.com/olmkit/olmkit/internal/testsize"
)

var seed = flag.Uint64("seed", 0, "check the generated formula of this `seed` only")

// A formula is a random formula, small enough to try all assignments. All its clauses depend on a switch, as the facts
// of a conflict do: the solver cannot be used again after clauses contradict each other without assumptions.
type formula struct {
	*rand.Rand
	s       *Solver
	on      Lit
	vars    []Lit
	clauses [][]Lit
	models  []int // the assignments that satisfy all clauses
}

// randomFormula returns a formula of a size at which about half of all formulas are satisfiable.
func randomFormula(seed uint64) *formula {
	f := &formula{Rand: rand.New(rand.NewPCG(seed, 2)), s: New(0, 0)}
	f.on = f.s.Lit()
	f.vars = variables(f.s, 3+f.IntN(6))
	for range f.IntN(4 * len(f.vars)) {
		c := f.some(1 + f.IntN(3))
		f.clauses = append(f.clauses, c)
		f.s.Clause(append(slices.Clip(c), f.on.Not())...)
	}
	for n := range 1 << len(f.vars) {
		if !slices.ContainsFunc(f.clauses, func(c []Lit) bool {
			return !slices.ContainsFunc(c, func(l Lit) bool { return f.holds(n, l) })
		}) {
			f.models = append(f.models, n)
		}
	}
	return f
}

// some returns n random literals of different variables.
func (f *formula) some(n int) []Lit {
	var out []Lit
	for _, i := range f.Perm(len(f.vars))[:min(n, len(f.vars))] {
		l := f.vars[i]
		if f.IntN(2) == 0 {
			l = l.Not()
		}
		out = append(out, l)
	}
	return out
}

// holds reports whether an assignment satisfies a literal.
func (f *formula) holds(n int, l Lit) bool {
	for i, v := range f.vars {
		if v == l {
			return n>>i&1 == 1
		}
		if v.Not() == l {
			return n>>i&1 == 0
		}
	}
	panic("no such literal")
}

// possible reports whether some model has all the literals.
func (f *formula) possible(ls []Lit) bool {
	if i := slices.Index(ls, f.on); i >= 0 {
		ls = slices.Delete(slices.Clone(ls), i, i+1)
	} else {
		return true // each assigns a variable once, and all clauses are switched off
	}
	return slices.ContainsFunc(f.models, func(n int) bool {
		return !slices.ContainsFunc(ls, func(l Lit) bool { return !f.holds(n, l) })
	})
}

func seeds(t *testing.T, check func(t *testing.T, f *formula)) {
	if *seed != 0 {
		check(t, randomFormula(*seed))
		return
	}
	for i := range testsize.Of(500, 2000, 50_000) {
		check(t, randomFormula(uint64(i+1)))
		if t.Failed() {
			t.Fatalf("replay with: go test ./internal/sat -run '^%s$' -seed %d", t.Name(), i+1)
		}
	}
}

func TestSolve(t *testing.T) {
	seeds(t, func(t *testing.T, f *formula) {
		for range 4 {
			assume := append(f.some(f.IntN(4)), f.on)
			got, want := solve(t, f.s, assume...), f.possible(assume)
			if got != want {
				t.Errorf("Solve(%v) of %v = %v, want %v", assume, f.clauses, got, want)
			}
			if got && slices.ContainsFunc(f.clauses, func(c []Lit) bool { return !slices.ContainsFunc(c, f.s.Value) }) {
				t.Errorf("the model of %v breaks a clause", f.clauses)
			}
			if core := f.s.Core(); !got && (f.possible(core) || slices.ContainsFunc(core, func(l Lit) bool { return !slices.Contains(assume, l) })) {
				t.Errorf("Solve(%v) of %v: the core %v is possible or not assumed", assume, f.clauses, core)
			}
		}
	})
}

func TestMinimalCore(t *testing.T) {
	seeds(t, func(t *testing.T, f *formula) {
		assume := slices.Insert(f.some(len(f.vars)), f.IntN(3), f.on)
		core, err := f.s.MinimalCore(context.Background(), assume, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.possible(assume) {
			if core != nil {
				t.Errorf("MinimalCore(%v) of %v = %v, want none", assume, f.clauses, core)
			}
			return
		}
		if f.possible(core) || len(core) == 0 {
			t.Errorf("MinimalCore(%v) of %v = %v, which is possible", assume, f.clauses, core)
		}
		for i := range core {
			if without := slices.Delete(slices.Clone(core), i, i+1); !f.possible(without) {
				t.Errorf("MinimalCore(%v) of %v = %v, of which %v is enough", assume, f.clauses, core, without)
			}
		}
		if !slices.IsSortedFunc(core, func(a, b Lit) int { return slices.Index(assume, a) - slices.Index(assume, b) }) {
			t.Errorf("MinimalCore(%v) = %v: not in order", assume, core)
		}
	})
}

// best makes the choices that Prefer documents, by exhaustive search: it tries the options in order and backtracks.
func (f *formula) best(took, chosen []Lit, queue []Choice, after map[Lit][]Choice) ([]Lit, bool) {
	if !f.possible(took) {
		return nil, false
	}
	if len(queue) == 0 {
		return chosen, true
	}
	c, rest := queue[0], queue[1:]
	has := func(l Lit) bool { return slices.Contains(took, l) }
	if c.Met == nil && slices.ContainsFunc(c.Options, has) || c.Met != nil && c.Met(has) {
		return f.best(took, chosen, rest, after)
	}
	for _, l := range c.Options {
		next := slices.Concat(rest, after[l])
		if got, ok := f.best(append(slices.Clip(took), l), append(slices.Clip(chosen), l), next, after); ok {
			return got, true
		}
	}
	return f.best(took, chosen, rest, after) // no option is possible
}

func TestPrefer(t *testing.T) {
	solved := 0
	seeds(t, func(t *testing.T, f *formula) {
		// Follow-up choices have no Met here: the map may contain cycles, which real follow-up choices never do.
		choices := func(n int, mets bool) []Choice {
			var out []Choice
			for range n {
				c := Choice{Options: f.some(1 + f.IntN(4))}
				if mets && f.IntN(2) == 0 {
					met := f.some(2)
					c.Met = func(took func(Lit) bool) bool { return took(met[0]) && took(met[1]) }
				}
				out = append(out, c)
			}
			return out
		}
		hard, queue, after := append(f.some(f.IntN(3)), f.on), choices(1+f.IntN(3), true), map[Lit][]Choice{}
		for _, v := range f.vars {
			after[v], after[v.Not()] = choices(f.IntN(2), false), choices(f.IntN(2), false)
		}
		got, ok, err := f.s.Prefer(context.Background(), hard, queue, func(l Lit) []Choice { return after[l] })
		if err != nil {
			t.Fatal(err)
		}
		want, wantOK := f.best(hard, nil, queue, after)
		if ok != wantOK || !slices.Equal(got, want) {
			t.Errorf("Prefer(%v, %v) of %v = %v, %v, want %v, %v", hard, queue, f.clauses, got, ok, want, wantOK)
		}
		if ok {
			solved++
		}
	})
	t.Logf("%d formulas had a model", solved)
}

// TestSameAgain checks that the same calls give the same models and cores.
func TestSameAgain(t *testing.T) {
	run := func(seed uint64) (values []bool, core []Lit) {
		f := randomFormula(seed)
		if solve(t, f.s, f.on) {
			for _, v := range f.vars {
				values = append(values, f.s.Value(v))
			}
		}
		core, _ = f.s.MinimalCore(context.Background(), append(f.some(len(f.vars)), f.on), nil)
		return values, core
	}
	for seed := range uint64(300) {
		values, core := run(seed)
		again, coreAgain := run(seed)
		if !slices.Equal(values, again) || !slices.Equal(core, coreAgain) {
			t.Errorf("seed %d: got %v %v, then %v %v", seed, values, core, again, coreAgain)
		}
	}
}

// pigeons states that n+1 pigeons each have one of n holes alone. This is impossible, and clause learning cannot show
// it for n above a dozen.
func pigeons(n int) (s *Solver, on []Lit) {
	s = New(0, 0)
	sits := make([][]Lit, n+1)
	for i := range sits {
		sits[i] = variables(s, n)
		o := s.Lit()
		s.Clause(append(slices.Clone(sits[i]), o.Not())...)
		on = append(on, o)
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
	return s, on
}

func TestPigeons(t *testing.T) {
	s, on := pigeons(4)
	if solve(t, s, on...) {
		t.Fatal("five pigeons fit into four holes")
	}
	core, err := s.MinimalCore(context.Background(), on, nil)
	if err != nil || !slices.Equal(core, on) {
		t.Errorf("MinimalCore = %v, %v, want all of %v", core, err, on)
	}
}

// TestContext checks that every search obeys its context (D18).
func TestContext(t *testing.T) {
	cause := errors.New("enough")
	for _, test := range []struct {
		name string
		run  func(context.Context, *Solver, []Lit) error
	}{
		{"Solve", func(ctx context.Context, s *Solver, on []Lit) error { _, err := s.Solve(ctx, on...); return err }},
		{"MinimalCore", func(ctx context.Context, s *Solver, on []Lit) error {
			_, err := s.MinimalCore(ctx, on, nil)
			return err
		}},
		{"Prefer", func(ctx context.Context, s *Solver, on []Lit) error {
			_, _, err := s.Prefer(ctx, nil, []Choice{{Options: on[:1]}}, func(Lit) []Choice {
				return []Choice{{Options: []Lit{s.And(on...)}}}
			})
			return err
		}},
	} {
		t.Run(test.name+"/before", func(t *testing.T) {
			s, on := pigeons(3)
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(cause)
			if err := test.run(ctx, s, on); err != cause {
				t.Errorf("got the error %v, want the cause", err)
			}
		})
		t.Run(test.name+"/during", func(t *testing.T) {
			for _, looks := range []int{2, 10, 100, 1000} {
				s, on := pigeons(14)
				if err := test.run(testctx.EndsAfter(looks, cause), s, on); err != cause {
					t.Errorf("after %d looks at the context: got the error %v, want the cause", looks, err)
				}
			}
		})
	}
}

func BenchmarkAtMostOne(b *testing.B) {
	for b.Loop() {
		s := New(2000, 2000)
		s.AtMostOne(s.True(), variables(s, 1000)...)
	}
}

func BenchmarkMinimalCore(b *testing.B) {
	for b.Loop() {
		s, on := pigeons(5)
		if _, err := s.MinimalCore(context.Background(), on, nil); err != nil {
			b.Fatal(err)
		}
	}
}
