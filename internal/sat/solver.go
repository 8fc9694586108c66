package sat

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/go-air/gini"
	"github.com/go-air/gini/z"
)

// A Lit is a variable or its negation. The zero Lit is not a valid literal.
type Lit uint32

// Not returns the negation.
func (l Lit) Not() Lit { return Lit(z.Lit(l).Not()) }

// Solver holds clauses and the state of the search over them.
type Solver struct {
	g *gini.Gini
	// yes is a literal that is always true.
	yes Lit
	// vars and clauses are the numbers of variables and clauses added.
	vars, clauses int
	// fresh is true if the last answer was "satisfiable" and no clause has been
	// added since, so that Value may be called.
	fresh bool
	// stated holds the literals of all clauses, starts where each clause
	// begins, and units the clauses with at most one literal.
	stated []Lit
	starts []int32
	units  []int32
	prop   *propagation // created on first use
	// demands and limits are counted before each search (count.go).
	demands  []demand
	groups   map[*Lit]int // of demands, by their literals
	limits   []limit
	asking   postings // demands that wait for a literal
	limiting postings
	// Buffers for counting. values is all zero between counts.
	values          []int8
	forced          []Lit
	waiting, active []int
	used            []bool
	wanted          []int32
}

// New returns an empty solver with room for about the given numbers of
// variables and clauses; it grows as needed. Allocation dominates the cost of
// small problems: gini cannot be reset and reused, and by default it allocates
// eight clauses of five literals per variable.
func New(vars, clauses int) *Solver {
	s := &Solver{g: gini.NewVc(max(vars, 16), max(clauses, 16)), groups: map[*Lit]int{}}
	s.yes = s.Lit()
	s.Clause(s.yes)
	return s
}

// Lit returns a new variable.
func (s *Solver) Lit() Lit {
	s.vars++
	return Lit(s.g.Lit())
}

// True returns a literal that holds in every model.
func (s *Solver) True() Lit { return s.yes }

// Size returns the numbers of variables and clauses added.
func (s *Solver) Size() (vars, clauses int) { return s.vars, s.clauses }

// Clause adds the clause that one of the literals holds. Without literals it
// adds a contradiction.
func (s *Solver) Clause(ls ...Lit) {
	s.fresh = false
	s.clauses++
	if len(ls) < 2 {
		s.units = append(s.units, int32(len(s.starts)))
	}
	s.starts = append(s.starts, int32(len(s.stated)))
	s.stated = append(s.stated, ls...)
	for _, l := range ls {
		s.g.Add(z.Lit(l))
	}
	s.g.Add(z.LitNull)
}

// maxClause is the maximum number of literals in a clause of Or. The solver
// scans a clause from its beginning each time one of its literals becomes
// false.
const maxClause = 32

// Or returns a literal that holds if and only if one of ls does.
func (s *Solver) Or(ls ...Lit) Lit {
	for len(ls) > maxClause {
		var parts []Lit
		for part := range slices.Chunk(ls, maxClause) {
			parts = append(parts, s.Or(part...))
		}
		ls = parts
	}
	switch len(ls) {
	case 0:
		return s.yes.Not()
	case 1:
		return ls[0]
	}
	x := s.Lit()
	for _, l := range ls {
		s.Clause(l.Not(), x)
	}
	s.Clause(append(slices.Clone(ls), x.Not())...)
	return x
}

// And returns a literal that holds if and only if all of ls do.
func (s *Solver) And(ls ...Lit) Lit {
	not := make([]Lit, len(ls))
	for i, l := range ls {
		not[i] = l.Not()
	}
	return s.Or(not...).Not()
}

// AtMostOne adds clauses that at most one of ls holds if on holds. Their size
// is linear in ls: the i-th helper variable means that one of the first i
// literals holds.
func (s *Solver) AtMostOne(on Lit, ls ...Lit) {
	for _, l := range ls {
		s.limiting.add(l, len(s.limits))
	}
	s.limits = append(s.limits, limit{on, slices.Clone(ls)})
	if len(ls) <= 4 {
		for i, a := range ls {
			for _, b := range ls[i+1:] {
				s.Clause(on.Not(), a.Not(), b.Not())
			}
		}
		return
	}
	some := ls[0]
	for i, l := range ls[1:] {
		s.Clause(on.Not(), some.Not(), l.Not())
		if i == len(ls)-2 {
			break
		}
		next := s.Lit()
		s.Clause(some.Not(), next)
		s.Clause(l.Not(), next)
		some = next
	}
}

// Solve reports whether the clauses have a model in which all assumptions hold. The error
// is the context's. Solve returns soon after the context is done (D18).
func (s *Solver) Solve(ctx context.Context, assume ...Lit) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	s.cut(assume)
	for _, l := range assume {
		s.g.Assume(z.Lit(l))
	}
	r := 0
	if ctx.Done() == nil {
		r = s.g.Solve()
	} else {
		// gini does not take a context, and while its Try waits for a result, it holds the
		// lock that Stop needs; so poll it. Most problems finish before the first sleep.
		run := s.g.GoSolve()
		for n := 0; ; n++ {
			var done bool
			if r, done = run.Test(); done {
				break
			}
			if err := context.Cause(ctx); err != nil {
				run.Stop()
				s.fresh = false
				return false, err
			}
			if n < 100 {
				runtime.Gosched()
			} else {
				time.Sleep(min(time.Duration(n)*time.Microsecond, time.Millisecond))
			}
		}
	}
	s.fresh = r > 0
	return s.fresh, nil
}

// Value returns the value of a literal in the model found by the last Solve.
func (s *Solver) Value(l Lit) bool { return s.fresh && s.g.Value(z.Lit(l)) }

// Core returns assumptions of the last Solve that cannot hold together, if it
// found no model. The set need not be minimal; see MinimalCore.
func (s *Solver) Core() []Lit {
	var out []Lit
	for _, l := range s.g.Why(nil) {
		out = append(out, Lit(l))
	}
	return out
}
